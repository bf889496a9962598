"""What every response says to browsers, errors included."""

from __future__ import annotations

from typing import final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askone.server.config import ServerConfig

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
}


@final
class SecurityHeadersMiddleware:
    """Puts them on; answers of the API are never kept by a cache unless they say so."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        extra = {"strict-transport-security": "max-age=31536000"} if config.tls else {}
        self._app = app
        self._fixed = [(name.encode(), value.encode()) for name, value in {**_ALWAYS, **extra}.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                kept = any(name == b"cache-control" for name, _ in given)
                store = [] if kept else [(b"cache-control", b"no-store")]
                message["headers"] = [*given, *self._fixed, *store]
            await send(message)

        await self._app(scope, receive, sending)
