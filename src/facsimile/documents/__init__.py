"""Documents that go with a release: for everyone, for data users, for machines. They render a Report."""
