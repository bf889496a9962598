"""The demonstration: three campaigns, a server, and simulated people at the other keyboards."""
