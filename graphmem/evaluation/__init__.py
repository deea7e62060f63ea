"""Measuring graphmem: data sets, metrics, retrieval, links; nothing below imports it.

No data set is part of graphmem; every command takes the path of a file you fetched:

==============  ==============================================  =================  ============
Data set        Where to get it                                 File               Licence
==============  ==============================================  =================  ============
LongMemEval_S   Hugging Face, xiaowu0162/longmemeval-cleaned    longmemeval_s      MIT
LoCoMo          GitHub, snap-research/locomo                    locomo10.json      CC BY-NC 4.0
its audit       GitHub, dial481/locomo-audit                    corrections        CC BY-NC 4.0
MuSiQue         GitHub, StonyBrookNLP/musique                   training part      CC BY 4.0
HotpotQA        hotpotqa.github.io                              training part      CC BY-SA 4.0
==============  ==============================================  =================  ============

Files may be JSON or JSON Lines, plain or compressed (``.xz``). The licences of LoCoMo and its
audit exclude commercial use of the data.
"""
