"""What a campaign is told, from TOML or JSON, checked."""
