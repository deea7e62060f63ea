// Version 5: sentences of a note can have vectors; what is stored stays as it is
MATCH (g:GraphMem {name: 'graphmem'})
FINISH
