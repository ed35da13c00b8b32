"""Bodies under physics (MuJoCo): the ground near the robot, its model, and the controllers that move it."""
