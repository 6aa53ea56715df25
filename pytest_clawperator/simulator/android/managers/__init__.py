"""What Android's system server does: start and stop apps, deliver broadcasts, install."""
