"""Links measured on public data sets: how many of them are right, how many are missing.

Two kinds, each over every pair of a namespace and micro-averaged:

``questions``
    a question and the sources (or passages) that answer it;
``pairs``
    sources (or passages) that one question needs together.

A source is a session of LongMemEval or LoCoMo; the passages of MuSiQue and HotpotQA are notes
of their own.
"""
