"""Words for places: what is written on their signs, what people call them, and what one wants there."""

from __future__ import annotations

import re
from functools import cache

#: Category -> what its signs may say; longer words win over shorter ones that they contain.
SIGN_WORDS: dict[str, tuple[str, ...]] = {
    "cafe": ("cafe", "coffee", "espresso", "tearoom"),
    "bakery": ("bakery", "baker", "patisserie", "boulangerie"),
    "pharmacy": ("pharmacy", "chemist", "drugstore", "apotheke"),
    "bookstore": ("bookstore", "bookshop", "books"),
    "supermarket": ("supermarket", "market", "grocery", "groceries"),
    "restaurant": ("restaurant", "trattoria", "noodle house", "noodles", "bistro", "diner", "pizzeria", "steakhouse"),
    "bank": ("bank",),
    "hotel": ("hotel", "hostel", "inn"),
    "clinic": ("clinic", "medical", "doctors"),
    "florist": ("florist", "flowers"),
    "clothing store": ("clothing", "clothes", "fashion", "boutique"),
    "electronics": ("electronics", "electro", "volt", "computers"),
    "barber": ("barber shop", "barbershop", "barber", "hairdresser"),
    "bar": ("bar", "pub", "tavern"),
    "post office": ("post office", "postoffice", "post"),
    "gym": ("gym", "fitness"),
    "laundry": ("laundry", "launderette", "laundromat"),
    "office": ("offices", "office"),
    "apartments": ("apartments", "apartment", "residence"),
    "school": ("school", "academy", "college"),
}

#: Category -> words in which people ask for it without naming it.
WISHES: dict[str, tuple[str, ...]] = {
    "cafe": ("coffee", "espresso", "cappuccino", "latte", "tea"),
    "bakery": ("bread", "loaf", "rolls", "cake", "croissant", "pastry"),
    "pharmacy": ("headache", "prescription", "plasters", "syrup", "medicine", "pills", "aspirin"),
    "bookstore": ("novel", "book", "reads", "guide", "bestseller"),
    "supermarket": ("groceries", "milk", "vegetables", "rice", "food", "fruit"),
    "restaurant": ("hungry", "meal", "dinner", "dish", "lunch", "eat"),
    "bank": ("account", "loan", "cash", "money", "mortgage"),
    "hotel": ("night", "suitcase", "bed", "check in", "sleep", "room"),
    "clinic": ("ankle", "doctor", "x-ray", "nurse", "hurt", "ill"),
    "florist": ("bouquet", "roses", "tulips", "flowers"),
    "clothing store": ("coat", "trousers", "shirt", "dress", "jacket", "wear"),
    "electronics": ("charger", "headphones", "laptop", "phone", "cable"),
    "barber": ("haircut", "beard", "hair", "shave"),
    "bar": ("beer", "cocktail", "drink", "whisky"),
    "post office": ("parcel to send", "stamps", "registered letter", "letter", "parcel"),
    "gym": ("weights", "treadmill", "workout", "exercise"),
    "laundry": ("washing machine", "washed", "wash and dry", "laundry", "ironed"),
    "office": ("meeting", "desk", "interview", "colleague"),
    "apartments": ("flat", "friend at home", "home"),
    "school": ("class", "teacher", "lesson", "pupil"),
}

#: What people call a thing -> its category, where the two differ.
_NOUNS = {
    "electronics store": "electronics",
    "apartment building": "apartments",
    "office building": "office",
    "coffee shop": "cafe",
    "coffeehouse": "cafe",
    "grocery store": "supermarket",
    "grocery": "supermarket",
    "chemist": "pharmacy",
    "drugstore": "pharmacy",
    "bookshop": "bookstore",
    "book shop": "bookstore",
    "clothes shop": "clothing store",
    "flower shop": "florist",
    "barber shop": "barber",
    "hairdresser": "barber",
    "pub": "bar",
    "fitness studio": "gym",
    "launderette": "laundry",
    "laundromat": "laundry",
    "television": "tv",
    "couch": "sofa",
    "fridge": "refrigerator",
    "garbage can": "trash can",
    "bin": "trash can",
}

_SHORT = 4


def category_of_noun(noun: str) -> str:
    """The category that people mean by a noun, with or without its article: ``a coffee shop`` is a ``cafe``."""
    plain = re.sub(r"^(the|a|an|some|your|another)\s+", "", " ".join(noun.lower().replace("_", " ").split()))
    return _NOUNS.get(plain, plain)


def place_on_sign(text: str) -> str | None:
    """The category of place that a sign's text speaks of, None when it names none that is known.

    A word of five letters or more may be off by one letter, as reading errs; one of four may lack its
    first or last; spaces may be lost; shorter words stand alone or at an end.
    """
    tokens = re.findall(r"[a-z]+", text.lower())
    joined = "".join(tokens)
    for word, category in _sign_words():
        plain = word.replace(" ", "")
        if len(plain) < _SHORT:
            if plain in tokens or (len(joined) <= 2 * len(plain) + _SHORT and (joined.endswith(plain))):
                return category
        elif plain in joined or any(_one_off(token, plain) if len(plain) > _SHORT else token in (plain[1:], plain[:-1]) for token in tokens):
            return category
    return None


def place_wished_for(sentence: str) -> str | None:
    """The category of place that fulfils a wish, None when no word tells: ``I would like a cup of coffee.`` is for a cafe."""
    lowered = f" {' '.join(re.findall(r'[a-z-]+', sentence.lower()))} "
    found = [(lowered.find(f" {word}"), -len(word), category) for category, words in WISHES.items() for word in words if f" {word}" in lowered]
    whole = [(-len(word), lowered.find(f" {word} "), category) for category, words in WISHES.items() for word in words if f" {word} " in lowered]
    return min(whole)[2] if whole else (min(found)[2] if found else None)


@cache
def _sign_words() -> tuple[tuple[str, str], ...]:
    return tuple(sorted(((word, category) for category, words in SIGN_WORDS.items() for word in words), key=lambda pair: (-len(pair[0]), pair[0])))


def _one_off(token: str, word: str) -> bool:
    """Whether one letter changed, lost or added makes the token the word."""
    if abs(len(token) - len(word)) > 1:
        return False
    short, long = sorted((token, word), key=len)
    k = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[k + 1 :] == long[k + 1 :] if len(short) == len(long) else short[k:] == long[k + 1 :]
