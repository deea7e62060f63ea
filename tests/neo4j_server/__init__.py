"""A real Neo4j for tests on machines without Docker: jars from Maven Central, one JVM."""
