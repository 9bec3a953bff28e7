"""Rules for derivatives that replace those of what was computed: a user's, and that of the solution of an equation."""
