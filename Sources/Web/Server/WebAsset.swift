import Cryptography
import Embedded
import Hummingbird
import NIOCore
import Posts

/// An embedded file, with an address that changes with its contents.
struct WebAsset: Sendable {
    static let style = WebAsset("style.css", type: "text/css; charset=utf-8")
    static let script = WebAsset("live.js", type: "text/javascript; charset=utf-8")
    static let upload = WebAsset("upload.js", type: "text/javascript; charset=utf-8")
    /// The script that adds this browser to the devices that get notices.
    static let push = WebAsset("push.js", type: "text/javascript; charset=utf-8")
    /// The service worker that shows notices (W3C Service Workers, Push API); its scope is
    /// its folder, which contains all pages.
    static let worker = WebAsset("worker.js", type: "text/javascript; charset=utf-8")
    static let week = WebAsset("week.js", type: "text/javascript; charset=utf-8")
    static let icon = WebAsset("icon.svg", type: "image/svg+xml")
    /// The manifest by which a browser installs the page as an app (W3C Web Application Manifest).
    static let manifest = WebAsset("app.webmanifest", type: "application/manifest+json")
    /// The icon of the app in the forms that ``manifest`` names, and the one that Apple's phones
    /// ask for.
    static let appIcons = ["icon-192", "icon-512", "icon-maskable", "apple-touch-icon"].map {
        WebAsset("\($0).png", type: "image/png")
    }
    /// The files that a browser requests with any page.
    static let ofEveryPage = [style, script, icon, manifest]
    /// The files that need no session; a browser looks for a newer worker without one.
    static let withoutSession = [style, icon, manifest, worker] + appIcons
    static let all = ofEveryPage + [upload, week, push, worker] + appIcons

    let path: String
    private let type: String
    private let hash: String
    private let bytes: ByteBuffer

    private init(_ name: String, type: String) {
        path = "/\(name)"
        self.type = type
        let bytes = EmbeddedFiles.bytes(of: "Web/\(name)")
        hash = HashFunction.sha256.digest(of: bytes).prefix(6).hexadecimal
        self.bytes = ByteBuffer(bytes: bytes)
    }

    /// The size of the file in bytes.
    var size: Int { bytes.readableBytes }

    /// The address, with the hash of the contents; browsers cache it for a year.
    var address: String { "\(path)?v=\(hash)" }

    func response(to request: Request) -> Response {
        let isCurrent = request.uri.query == "v=\(hash)"
        return Response(
            status: .ok,
            headers: [
                .contentType: type,
                .cacheControl: isCurrent ? "public, max-age=31536000, immutable" : "no-cache",
            ],
            body: ResponseBody(byteBuffer: bytes))
    }
}
