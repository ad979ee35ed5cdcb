"""What the fakes of all platforms share: sockets, faults, and a console for drills by hand."""
