"""What is promised: columns, public domains, constraints, criteria, budget, the configuration space."""
