"""The store on a Neo4j server, through its driver and the files of ``cypher/``."""
