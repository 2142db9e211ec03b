"""What a narrator may say and a sign may show: the vocabulary of the rendered videos."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CLAIMED_COUNTS",
    "COLOURS",
    "COUNT_CUE",
    "NUMBER_WORDS",
    "SHAPES",
    "SIGN_WORDS",
    "SPOKEN_SIGN_WORDS",
    "TOPICS",
    "Topic",
    "claim_key",
    "noun_key",
    "phrases",
    "plural_noun",
    "sign_cue_key",
]

COLOURS = ("red", "green", "blue", "yellow", "orange", "purple")
SHAPES = ("circle", "square", "triangle", "star")
NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SIGN_WORDS = (
    "ANCHOR", "BASKET", "CANDLE", "COPPER", "DESERT", "FALCON", "FOREST", "HAMMER", "HARBOR",
    "ISLAND", "JACKET", "LANTERN", "MAGNET", "MARBLE", "MEADOW", "PARROT", "PEPPER", "PLANET",
    "RIBBON", "ROCKET", "SUMMER", "TEMPLE", "TICKET", "TUNNEL", "VALLEY", "WINTER",
)  # fmt: skip
SPOKEN_SIGN_WORDS = (
    "ANCHOR", "BASKET", "CANDLE", "COPPER", "HAMMER", "JACKET", "LANTERN", "MAGNET", "MARBLE",
    "PARROT", "PLANET", "TICKET", "TUNNEL", "WINTER",
)  # fmt: skip
CLAIMED_COUNTS = (2, 3, 5, 6, 7)
COUNT_CUE = "count-cue"


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A sentence that the narrator speaks, and two ways to name what it is about.

    `literal` uses words of the sentence; `paraphrase` uses none of its nouns, so that matching
    words does not find it. `keywords` are words that occur in this sentence only.
    """

    key: str
    sentence: str
    literal: str
    paraphrase: str
    keywords: tuple[str, ...]


def _topic(key: str, sentence: str, literal: str, paraphrase: str, *keywords: str) -> Topic:
    return Topic(
        key=key, sentence=sentence, literal=literal, paraphrase=paraphrase, keywords=keywords
    )


TOPICS = (
    _topic("boat", "The old boat sails slowly across the lake.",
           "a boat on the lake", "a vessel out on the water", "boat", "sails"),
    _topic("train", "The morning train leaves the station.",
           "a train at the station", "a departure by rail", "train", "station"),
    _topic("dog", "A dog is running in the garden.",
           "a dog in the garden", "a pet racing around outdoors", "dog"),
    _topic("snow", "Heavy snow is falling on the mountains.",
           "snow on the mountains", "wintry weather over the peaks", "snow", "mountains"),
    _topic("piano", "My sister is playing the piano.",
           "a sister at the piano", "a sibling who makes music", "sister", "piano"),
    _topic("doctor", "The doctor visits the school on Monday.",
           "a doctor at a school", "a medical call on pupils", "doctor", "school"),
    _topic("letter", "The teacher writes a long letter to the mayor.",
           "a letter to the mayor", "a message to the head of the town", "letter", "mayor"),
    _topic("museum", "The museum opens again next year.",
           "a museum that opens", "an exhibition house that comes back", "museum"),
    _topic("telephone", "The telephone rings in the kitchen.",
           "a telephone in the kitchen", "an incoming call at home", "telephone", "kitchen"),
    _topic("football", "The rain stops just before the football match.",
           "rain before a football match", "a sky that clears ahead of a game", "rain", "football"),
    _topic("library", "The library closes early on Friday.",
           "a library on Friday", "a house of books that shuts ahead of time", "library", "friday"),
    _topic("camera", "She finds an old camera under the roof.",
           "a camera under the roof", "the discovery of a photographic device", "camera", "roof"),
    _topic("soup", "Grandmother is cooking soup for the guests.",
           "a grandmother with soup", "an elderly woman who feeds visitors", "grandmother", "soup"),
    _topic("airplane", "The airplane lands safely in the storm.",
           "an airplane in a storm", "a flight that arrives in bad weather", "airplane", "storm"),
    _topic("campfire", "The children sing a song around the campfire.",
           "children around a campfire", "youngsters gathered by the flames", "children", "song"),
    _topic("clock", "The clock in the tower is broken.",
           "a clock in a tower", "a timepiece that no longer works", "tower", "clock"),
    _topic("wallet", "Somebody lost a wallet near the fountain.",
           "a wallet at a fountain", "a purse that went missing", "wallet", "fountain"),
    _topic("beach", "The students are cleaning the beach.",
           "students on a beach", "learners who tidy up the shore", "students", "beach"),
    _topic("nurse", "The nurse closes the window.",
           "a nurse at a window", "a hospital worker who shuts out the draught", "nurse", "window"),
    _topic("wedding", "The guests are dancing at the wedding.",
           "guests at a wedding", "a party after two people got married", "wedding", "dancing"),
    _topic("moon", "The moon rises behind the hills.",
           "the moon behind the hills", "a night sky that gets brighter", "moon", "hills"),
    _topic("gate", "The king opens the gate of the castle.",
           "a king at a castle", "a monarch who lets people in", "king", "castle"),
    _topic("painter", "A painter paints the wall of the church.",
           "a painter at a church", "an artist at work on a place of worship", "painter", "church"),
    _topic("lawyer", "The lawyer reads the newspaper in the garden.",
           "a lawyer with a newspaper", "a legal expert catching up on events", "lawyer", "newspaper"),
)  # fmt: skip


def plural_noun(colour: str, shape: str, count: int = 2) -> str:
    """Return for instance `red circles`, or `red circle` for a count of one."""
    return f"{colour} {shape}" if count == 1 else f"{colour} {shape}s"


def claim_key(count: int) -> str:
    """Return the key of the phrase that begins a claim about `count` of the `CLAIMED_COUNTS`."""
    return f"claim-{count}"


def noun_key(colour: str, shape: str) -> str:
    """Return the key of the phrase that names shapes of one colour."""
    return f"noun-{colour}-{shape}"


def sign_cue_key(word: str) -> str:
    """Return the key of the phrase that speaks a sign's word."""
    return f"sign-{word.lower()}"


def phrases() -> dict[str, str]:
    """Return every phrase that was synthesised: its key and its text."""
    table = {f"topic-{topic.key}": topic.sentence for topic in TOPICS}
    table |= {
        sign_cue_key(word): f"Remember the word {word.lower()}." for word in SPOKEN_SIGN_WORDS
    }
    table |= {claim_key(n): f"I can see {NUMBER_WORDS[n - 1]}" for n in CLAIMED_COUNTS}
    table[COUNT_CUE] = "Please count all the"
    table |= {
        noun_key(colour, shape): f"{plural_noun(colour, shape)}."
        for colour in COLOURS
        for shape in SHAPES
    }
    return table
