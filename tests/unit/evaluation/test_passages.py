"""The readers of multi-hop questions, on small files of the same shape."""

import json

import pytest

from graphmem.errors import TransferError
from graphmem.evaluation.passages import read_hotpotqa, read_musique


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_musique_gives_each_passage_once_and_the_supporting_ones(tmp_path):
    ada = {"title": "Ada", "paragraph_text": "Wrote notes.", "is_supporting": True}
    ben = {"title": "Ben", "paragraph_text": "Made bowls.", "is_supporting": False}
    path = write(
        tmp_path / "m.json",
        [
            {"id": "a", "question": "Who?", "paragraphs": [ada, ben]},
            {"id": "b", "question": "What?", "paragraphs": [ada | {"is_supporting": False}]},
        ],
    )
    collection = read_musique(path)
    titles = {passage.id: passage.title for passage in collection.passages}
    assert sorted(titles.values()) == ["Ada", "Ben"]
    first, second = collection.questions
    assert [titles[key] for key in first.passages] == ["Ada", "Ben"]
    assert {titles[key] for key in first.gold} == {"Ada"}
    assert not second.gold


def test_hotpotqa_joins_sentences_and_reads_supporting_facts(tmp_path):
    path = write(
        tmp_path / "h.json",
        [
            {
                "_id": "a",
                "question": "Who?",
                "supporting_facts": [["Ada", 1]],
                "context": [["Ada", ["One.", " Two."]], ["Ben", ["Three."]]],
            }
        ],
    )
    collection = read_hotpotqa(path)
    (question,) = collection.questions
    (gold,) = (passage for passage in collection.passages if passage.id in question.gold)
    assert (gold.title, gold.text) == ("Ada", "One. Two.")


@pytest.mark.parametrize("read", [read_musique, read_hotpotqa])
def test_another_file_is_refused(tmp_path, read):
    with pytest.raises(TransferError, match=r"x\.json"):
        read(write(tmp_path / "x.json", [{"question": "Who?"}]))
