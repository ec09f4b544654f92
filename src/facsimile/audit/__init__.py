"""Evidence that the privacy core does what its proofs say, on the machine that it runs on."""
