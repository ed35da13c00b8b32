"""Small real servers in the shapes that published models speak, and a place to stand in for their clients."""

import base64
import email.parser
import email.policy
import io
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from PIL import Image
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve as listen

from portico.geometry import Pose
from portico.interface import ActionSpace, Body, Brief, Camera, Frame, Observation, StageBrief

BODY = Body("tester", 0.3, 0.8, 0.2, 1.0, 1.0)


@contextmanager
def http_server(answer):
    """Serve ``answer(path, body, form, files) -> map | (status, bytes)``; ``calls`` of the yielded object holds (path, body)."""
    calls = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self._reply(None, {}, {})

        def do_POST(self):
            data = self.rfile.read(int(self.headers["content-length"]))
            kind = self.headers.get("content-type", "")
            if kind.startswith("multipart/"):
                form, files = parts(kind, data)
                self._reply(None, form, files)
            else:
                self._reply(json.loads(data), {}, {})

        def _reply(self, body, form, files):
            calls.append((self.path, body if body is not None else form))
            reply = answer(self.path, body, form, files)
            status, data = reply if isinstance(reply, tuple) else (200, json.dumps(reply).encode())
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.calls = calls
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def socket_server(answer):
    """Serve ``answer(message) -> message | None`` to every message of every connection."""

    def talk(connection):
        try:
            while True:
                reply = answer(connection.recv())
                if reply is not None:
                    connection.send(reply)
        except ConnectionClosed:
            pass

    server = listen(talk, "127.0.0.1", 0, max_size=None, compression=None)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()


def parts(content_type, data):
    """Form fields and files of a multipart body, by the standard library's own reading of MIME."""
    head = f"Content-Type: {content_type}\r\nMIME-Version: 1.0\r\n\r\n".encode()
    form, files = {}, {}
    for part in email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + data).iter_parts():
        name, payload = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        if part.get_filename():
            files[name] = payload
        else:
            form[name] = payload.decode()
    return form, files


def pixels(data):
    """The picture of PNG or JPEG bytes, or of their base64 text."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data) if isinstance(data, str) else data)))


def red_left_blue_right(height, width):
    """(H, W, 3): a picture that tells red from blue and left from right."""
    rgb = np.zeros((height, width, 3), np.uint8)
    rgb[:, : width // 2, 0] = 255
    rgb[:, width // 2 :, 2] = 255
    return rgb


def stage(kind, **more):
    return StageBrief(kind, 0, 1, f"carry out {kind}", **more)


def brief(cameras, asked, *, key="one", body=BODY):
    return Brief(key, asked.kind, (asked.kind,), asked, body, tuple(cameras), ActionSpace(), "rgbd", 100, 7)


def observation(cameras, asked, step=0, *, odometry=None, pose=None, depth_m=2.0, rgb=None):
    frames = {}
    for camera in cameras:
        size = (camera.height, camera.width)
        depth = np.full(size, depth_m, np.float32)
        frames[camera.name] = Frame(camera, rgb=red_left_blue_right(*size) if rgb is None else rgb, depth=depth)
    odometry = Pose(0.0, 0.0) if odometry is None else odometry
    return Observation(step, 0.5 * step, frames, asked, odometry=odometry, pose=odometry if pose is None else pose, number=step)


FRONT = (Camera("front", 64, 48, z=0.6),)
