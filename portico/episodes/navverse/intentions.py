"""What people want when they mean a place: sentences that name no place, for intention-driven PlaceNav [NV 4.4]."""

from __future__ import annotations

import numpy as np

#: Category of a place -> what one may say. The trades of the generators' storefronts, and the houses that have a sign.
INTENTIONS: dict[str, tuple[str, ...]] = {
    "cafe": ("I would like a cup of coffee.", "I need an espresso and a seat to read the paper.", "I want to meet a friend over a cappuccino."),
    "bakery": ("I want a fresh loaf of bread.", "I would like some warm rolls for breakfast.", "I need a birthday cake by noon."),
    "pharmacy": ("I need something for my headache.", "I have a prescription to fill.", "I want to buy plasters and cough syrup."),
    "bookstore": ("I want to buy a novel for the journey.", "I am looking for a present for somebody who reads a lot.", "I need a travel guide in print."),
    "supermarket": ("I need to do the weekly groceries.", "We are out of milk, rice and vegetables.", "I want to buy food for dinner at home."),
    "restaurant": ("I am hungry and want a hot meal at a table.", "I would like to have dinner served tonight.", "I want to try the dish of the day."),
    "bank": ("I need to open an account.", "I want to talk to somebody about a loan.", "I have cash to pay in."),
    "hotel": ("I need a room for the night.", "I want to check in and drop my suitcase.", "I am too tired to travel on and need a bed."),
    "clinic": ("I have twisted my ankle and need it looked at.", "I need to see a doctor.", "I have an appointment for an X-ray."),
    "florist": ("I want a bouquet for an anniversary.", "I need a dozen red roses.", "I would like some tulips for the table."),
    "clothing store": ("I need a new coat for the winter.", "I want to try on a pair of trousers.", "I spilled coffee on my shirt and need another one."),
    "electronics": ("I need a charger for my phone.", "I want to buy a pair of headphones.", "My laptop is broken and I need a new one."),
    "barber": ("I need a haircut.", "I want my beard trimmed.", "My hair has grown too long and I want it short."),
    "bar": ("I would like a cold beer.", "I want a cocktail to end the evening.", "I want to watch the match over a drink."),
    "post office": ("I have a parcel to send.", "I need stamps for a letter.", "I want to collect a registered letter."),
    "gym": ("I want to lift some weights.", "I need an hour on a treadmill.", "I would like to take a workout class."),
    "laundry": ("My clothes are dirty and I have no washing machine.", "I need my suit washed and pressed.", "I want to wash and dry a load of sheets."),
    "office": ("I have a business meeting to attend.", "I have to be at my desk for work.", "I am here for a job interview at a company."),
    "apartments": ("I want to visit a friend at home.", "I am bringing a parcel to somebody's flat.", "I want to look at a flat that is to let."),
    "school": ("I have to pick up my child after class.", "I want to talk to a teacher.", "I have a lesson to attend."),
}


def intention(category: str, rng: np.random.Generator) -> str:
    """A wish that a place of the category fulfils; for categories that the table lacks, that one has something to do there."""
    known = INTENTIONS.get(category)
    if known is None:
        return f"I have something to do that is done at the {category.replace('_', ' ')}."
    return known[int(rng.integers(len(known)))]
