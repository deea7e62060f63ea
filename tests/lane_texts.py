"""Five hundred varied texts on which the embedding lanes are compared.

Made from a seed and not from data: the reference vectors beside this file belong to exactly
these texts.
"""

from __future__ import annotations

import hashlib
import random

SEED = 20260729
COUNT = 500

_VOCABULARY = """harbour lantern meeting budget violin orchard passport ferry allergic penicillin
aisle seat Thursday quarterly revenue kilometre refrigerator melancholy photosynthesis don't
it's re-entry COVID-19 v2.0.1 3.14159 $1,299.00 50% ada@example.org C++ node_modules
internationalisation Straße café naïve Zürich jalapeño smörgåsbord Ångström piñata
Dvořák Łódź Đà İstanbul œuvre"""
_SCRIPTS = (
    "東京の天気は明日晴れるでしょう彼女は窓側の席が好きです",
    "我们决定把会议推迟到星期四因为预算还没有批准",
    "회의는목요일로연기되었고예산은아직승인되지않았습니다",
    "встреча перенесена на четверг бюджет ещё не утверждён",
    "الاجتماع مؤجل إلى يوم الخميس والميزانية لم تعتمد بعد",
    "बैठक गुरुवार तक टाल दी गई है बजट अभी स्वीकृत नहीं हुआ",
    "η συνάντηση αναβλήθηκε για την Πέμπτη",
    "הפגישה נדחתה ליום חמישי כי התקציב טרם אושר",
)
_EMOJI = ("😀", "🎻", "👩‍🔬", "🇯🇵", "❤️", "🧑🏽‍🚀", "✅", "™", "𝒜", "ﷺ")
_EDGES = (
    "",
    " ",
    "\n\t",
    "\x00",
    "\u200b",
    "\ufeff",
    ".",
    "...",
    "a",
    "I",
    "😀",
    "日",
    "[MASK]",
    "[CLS] [SEP]",
    "x" * 100,
    "x" * 101,
    "x" * 5000,
    "Cafe\u0301 Zu\u0308rich",
    "Ｃａｆé ２０２６",
    "\u202eright to left\u202c",
    "a\u2028b\u2029c\x85d",
    "{'json': [1, 2, {\"k\": null}]}",
    "SELECT * FROM notes WHERE id = 'x'; -- comment",
    "https://example.org/a/b?c=d&e=%20f#g",
    "\ufffd replaced \ufffd",
)


def lane_texts() -> list[str]:
    """Return the texts: edges, lengths around the model's limit, scripts, emoji, mixtures."""
    rng = random.Random(SEED)
    texts = list(_EDGES)
    # One token a word: 254 of them fill the model's window together with [CLS] and [SEP].
    texts += [" ".join(["word"] * length) for length in (*range(248, 262), 510, 512, 2000)]
    while len(texts) < COUNT:
        kind = _KINDS[len(texts) % len(_KINDS)]
        texts.append(kind(rng))
    return texts


def fingerprint(texts: list[str]) -> str:
    """Return the sha256 of the texts, in order."""
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()


def _pick(rng: random.Random, items: tuple[str, ...] | list[str] | str) -> str:
    # random() is the part of the generator that is the same in every version of Python.
    return items[int(rng.random() * len(items))]


def _english(rng: random.Random, longest: int = 30) -> str:
    words = _VOCABULARY.split()
    return " ".join(_pick(rng, words) for _ in range(1 + int(rng.random() * longest)))


def _long(rng: random.Random) -> str:
    return ". ".join(_english(rng) for _ in range(5 + int(rng.random() * 40)))


def _script(rng: random.Random) -> str:
    letters = _pick(rng, _SCRIPTS)
    return "".join(_pick(rng, letters) for _ in range(1 + int(rng.random() * 120)))


def _emoji(rng: random.Random) -> str:
    return "".join(_pick(rng, _EMOJI) for _ in range(1 + int(rng.random() * 20)))


def _mixed(rng: random.Random) -> str:
    makers = (_english, _script, _emoji)
    parts = [makers[int(rng.random() * 3)](rng) for _ in range(2 + int(rng.random() * 4))]
    return _pick(rng, (" ", "", "\n", " - ")).join(parts)


_KINDS = (_english, _english, _script, _mixed, _emoji, _long)
