"""What several processes over one PostgreSQL database share, and how they divide the work."""
