"""The reasoner that asks a vision-language model over an OpenAI-compatible ``/chat/completions``.

Client with deadlines and retries, provider profiles as data, prompts, a parser that never guesses, cassettes.
"""

from portico.agent.vlm.client import ChatClient, Reply
from portico.agent.vlm.profiles import Profile, load_profile, profile_names
from portico.agent.vlm.reasoner import VlmReasoner

__all__ = ["ChatClient", "Profile", "Reply", "VlmReasoner", "load_profile", "profile_names"]
