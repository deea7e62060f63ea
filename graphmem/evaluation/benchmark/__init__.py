"""How fast, as ratios to a bare limit measured in the same run; embedding is left out."""
