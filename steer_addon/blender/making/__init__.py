"""Objects that are made for users: crowds, scenery, inputs, demo scenes."""
