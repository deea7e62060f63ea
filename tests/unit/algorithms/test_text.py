from __future__ import annotations

import sys
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.algorithms.text import (
    MAX_TOKEN_LENGTH,
    MOST_SENTENCES,
    embedding_text,
    index_terms,
    is_blank,
    sentences,
    sentences_to_embed,
    tokens,
    words,
)

any_text = st.text(st.characters(exclude_categories=[]), max_size=200)
"""Every code point, surrogates included."""


def shared(query: str, note: str) -> set[str]:
    return set(tokens(query)) & set(index_terms(note))


@given(any_text)
def test_a_token_is_bounded_and_holds_no_white_space(text: str) -> None:
    for token in index_terms(text, keywords=[text], tags=[text], author=text):
        assert token
        assert len(token) <= MAX_TOKEN_LENGTH
        assert token.split() == [token]


@given(st.text(max_size=60))
def test_composed_and_decomposed_forms_give_the_same_tokens(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))


@given(
    st.lists(st.sampled_from(["Ada", "tb-relay", "C++", "4.5", "租户", "ok", "the"]), max_size=9)
)
def test_words_keep_their_tokens_wherever_they_stand(parts: list[str]) -> None:
    joined = tokens(" ".join(parts))
    for part in parts:
        if part != "the":
            assert set(tokens(part)) <= set(joined)


NIGHTLY = "Nightly A/B testing of the onboarding page starts Monday."
RELAY = "tb-relay board revision 4 passed burn-in."
PARSER = "We dropped C++ for the parser."


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("/b testing", NIGHTLY),
        ("A/B", NIGHTLY),
        ("tb", RELAY),
        ("tb-", RELAY),
        ("tb-relay", RELAY),
        ("tbrelay", RELAY),
        ("board:", RELAY),
        ("board~2", RELAY),
        ("board^3", RELAY),
        ("board || parser", PARSER),
        ("(parser)", PARSER),
        ("C++", PARSER),
        ("c++", PARSER),
        ("cafe", "Café Zürich opens at seven."),
        ("Cafe\u0301 Zu\u0308rich", "Café Zürich opens at seven."),
        ("\uff23\uff41\uff46é", "Café Zürich opens at seven."),
        ("jalapeño", "jalapen\u0303o order is late"),
        ("STRASSE", "die Straße"),
        ("istanbul", "İstanbul"),
        ("租户", "多租户隔离在六月上线"),
        ("多租户隔离", "多租户隔离在六月上线"),
        ("猫", "我喜欢猫"),
        ("タワー", "東京タワーへ行きました"),
        ("인보이스", "인보이스를 보냈습니다"),
        ("ใบแจ้งหนี้", "ส่งใบแจ้งหนี้แล้ว"),
        ("חשבונית", "החשבונית נשלחה אתמול"),
        ("كتاب", "الكتاب الجديد"),
        ("हिन्दी", "यह हिन्दी में है"),
        ("книга", "новые книги"),
        ("2023", "due 2023-05-07"),
        ("2023-05-07", "due 2023-05-07"),
        ("2025", "٢٠٢٥"),
        ("1000000", "it cost 1,000,000 yen"),
        ("b@c.de", "write to b@c.de"),
        ("c.de", "write to b@c.de, c.de"),
        ("email", "an e-mail came"),
        ("seats", "an aisle seat"),
        ("🎉", "party 🎉!"),
        ("to be", "To be or not to be"),
    ],
)
def test_a_query_finds_the_note_that_has_its_word(query: str, note: str) -> None:
    assert shared(query, note)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("4.5", "4 of 5"),
        ("1", "version 1.5"),
        ("C", "C++"),
        ("東京タワー", "多租户隔离在六月上线"),
        ("the", "the cat sat"),
    ],
)
def test_a_query_does_not_find_what_only_looks_alike(query: str, note: str) -> None:
    assert not shared(query, note)


@pytest.mark.parametrize("query", ["/", "\\", "&&", "||", "…", "- -", "_", "\u200b", "", "\ud800"])
def test_punctuation_alone_gives_no_token(query: str) -> None:
    assert tokens(query) == ()


def test_stop_words_go_unless_they_are_all_there_is() -> None:
    assert tokens("who is the cat") == ("cat",)
    assert tokens("who is it") == ("who", "is", "it")


def test_particles_and_stop_words_go_out_of_mixed_scripts() -> None:
    assert tokens("猫が好き") == ("猫", "好")
    assert tokens("the東京") == ("東京",)
    assert tokens("が") == ("が",)


def test_possessives_and_contractions_are_the_word_without_them() -> None:
    assert tokens("Ada's") == tokens("Ada\u2019s") == tokens("Ada")
    assert tokens("I don\u2019t, she'll") == tokens("I don't she'll")


def test_zero_width_and_bidirectional_controls_do_not_split_a_word() -> None:
    assert tokens("in\u00advoice pri\u200dnter \u202eledger\u202c") == tokens(
        "invoice printer ledger"
    )


def test_a_very_long_word_is_found_by_itself() -> None:
    word = "x" * 5000
    assert tokens(word) == ("x" * MAX_TOKEN_LENGTH,)


def test_index_terms_add_each_metadata_token_once() -> None:
    terms = index_terms("ship ship", keywords=["Ship", "dock"], tags=["dock"], author="Ada")
    assert terms == ("ship", "ship", "dock", "ada")


def test_stems_are_right_when_threads_meet_new_words() -> None:
    stems = {f"{letter}{number}running": None for letter in "abcdef" for number in range(300)}
    barrier = threading.Barrier(4)

    def work(_: int) -> tuple[str, ...]:
        barrier.wait()
        return tokens(" ".join(stems))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert results == [tuple(word.removesuffix("ning") for word in stems)] * 4


@pytest.mark.parametrize(
    "text",
    [
        "x" * 200_000,
        "a-" * 100_000,
        "." * 200_000,
        " " * 200_000,
        "租" * 200_000,
        "e" + "\u0301" * 200_000,
    ],
    ids=["letters", "compound", "stops", "spaces", "ideographs", "marks"],
)
def test_two_hundred_thousand_characters_are_read(text: str) -> None:
    # Time that grew with the square of the length would not come back at all.
    assert all(len(token) <= MAX_TOKEN_LENGTH for token in tokens(text))
    assert len(sentences(text)) <= 1


@given(any_text)
@settings(max_examples=50)
def test_metadata_that_repeats_the_content_leaves_the_embedded_text_alone(text: str) -> None:
    assert embedding_text(text, keywords=[text], tags=[text], context=text) == text


def test_embedded_text_gains_what_the_content_lacks_once() -> None:
    made = embedding_text(
        "Ada flies to Berlin", keywords=["Berlin", "aisle"], tags=["aisle"], context="A trip."
    )
    assert made == "Ada flies to Berlin\naisle, A trip."


@pytest.mark.parametrize(
    "text", ["", "   ", "\n\t", "\u00a0", "\u200b", "\u3164\ufeff", "\u2800", "\x00\x07", "\ufe0f"]
)
def test_blank_forms(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["x", "…", "👍", "租", "\u200bx"])
def test_visible_forms(text: str) -> None:
    assert not is_blank(text)


@given(st.text(max_size=200))
def test_sentences_lose_only_white_space(text: str) -> None:
    def visible(part: str) -> str:
        return "".join(c for c in part if not is_blank(c))

    assert visible("".join(sentences(text))) == visible(text)


def test_sentences_respect_abbreviations_decimals_and_ideographic_stops() -> None:
    text = "Mr. Roy met Dr. Li, e.g. at 4.5 km. Really?! Yes\nNo 今日は。明日も。"
    assert sentences(text) == (
        "Mr. Roy met Dr. Li, e.g. at 4.5 km.",
        "Really?!",
        "Yes",
        "No 今日は。",
        "明日も。",
    )


def test_words_are_as_written() -> None:
    assert words("Zu\u0308rich's tb-relay, हिन्दी (C++)") == ("Zürich's", "tb-relay", "हिन्दी", "C++")


def test_sentences_are_embedded_when_there_are_several_long_ones() -> None:
    assert sentences_to_embed("Yes! Or no? I would rather not say.") == ("I would rather not say.",)
    assert sentences_to_embed("Exactly 12ch Then more words follow") == ()
    assert sentences_to_embed("Twelve chars\nThirteen char") == ("Thirteen char",)
    assert sentences_to_embed("Thank you. Thank you. Thank you.") == ()
    repeated = "I said it once already. I said it once already. And never again!"
    assert sentences_to_embed(repeated) == ("I said it once already.", "And never again!")
    assert sentences_to_embed(repeated, role="assistant") == ()
    many = " ".join(f"This is sentence number {n}." for n in range(20))
    assert len(sentences_to_embed(many)) == MOST_SENTENCES == 16
    assert sentences_to_embed(many)[0] == "This is sentence number 0."
