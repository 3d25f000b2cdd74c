"""The control law: values in, decisions out. Nothing here touches the world."""
