// Version 4: a note can supersede an older one; what is stored stays as it is
MATCH (g:GraphMem {name: 'graphmem'})
FINISH
