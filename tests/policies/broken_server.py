"""A server process of Portico's protocol that misbehaves in one episode: ``python broken_server.py MODE PORT WHICH_EPISODE``.

It imports nothing of Portico, so it is also a second reading of the protocol. Each episode's key is printed when it begins.
"""

import os
import sys
import threading
import time

import msgpack
from websockets.sync.server import serve

mode, port, which = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
episodes = 0
lock = threading.Lock()
AT_STEP = 2


def move(seq):
    return {"type": "action", "seq": seq, "action": {"kind": "move", "name": "forward"}}


def act(seq):
    pose = {"x": 0.5, "y": 0.0, "z": 0.0, "yaw_rad": 0.0}
    match mode:
        case "die":
            os._exit(9)
        case "slow":
            time.sleep(600.0)
        case "nan":
            return {"type": "action", "seq": seq, "action": {"kind": "waypoints", "poses": [pose, {**pose, "y": float("nan")}]}}
        case "huge":
            return {"type": "action", "seq": seq, "action": {"kind": "stop"}, "padding": bytes(100 * 2**20)}
        case "shapes":
            return {"type": "action", "seq": seq, "action": {"kind": "waypoints", "poses": [[0.5, 0.0]]}}
        case "array":
            x = {"__ndarray__": True, "data": bytes(16), "dtype": "<f8", "shape": [2]}
            return {"type": "action", "seq": seq, "action": {"kind": "waypoints", "poses": [{**pose, "x": x}]}}
        case "unnumbered":
            return {"type": "action", "seq": None, "action": {"kind": "stop"}}
        case "error":
            return {"type": "error", "seq": seq, "kind": "server", "error": "CUDA out of memory"}
        case "text":
            return "not a binary message"
        case "garbage":
            return b"\xc1\xc1"
        case "renumbered":
            return {**move(seq), "seq": seq + 40}
    return move(seq)


def answer(message, steps):
    global episodes
    seq = message.get("seq", 0)
    match message["type"]:
        case "hello":
            version = 0 if mode == "old" else 1
            spec = {"name": "little", "version": "1"}
            return {"type": "welcome", "protocol": "portico.policy", "version": version, "session": "s", "seq": 0, "spec": spec, "limit_bytes": 2**26}
        case "reset":
            with lock:
                episodes += 1
                steps[:] = [0, episodes]
            print(message["brief"]["episode_key"], flush=True)
            return {"type": "done", "seq": seq}
        case "act":
            steps[0] += 1
            return act(seq) if steps == [AT_STEP, which] else move(seq)
    return {"type": "done", "seq": seq}


def talk(connection):
    steps = [0, 0]
    for data in connection:
        reply = answer(msgpack.unpackb(data), steps)
        connection.send(reply if isinstance(reply, str | bytes) else msgpack.packb(reply))


with serve(talk, "127.0.0.1", port, max_size=2**26, compression=None) as server:
    print("listening", flush=True)
    server.serve_forever()
