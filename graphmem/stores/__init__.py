"""The two stores behind one contract: an embedded file and Neo4j."""
