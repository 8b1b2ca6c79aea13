import Crypto
import Foundation
import Posts
import Storage

/// The file beside an embedded database that holds the key of what is sealed there.
///
/// It is made once, whole, and readable for its owner only; two processes that
/// begin at once end up with one key.
struct KeyFile: Sendable {
    let path: String

    init(besideDatabase database: String) { path = database + ".key" }

    /// The key in the file; nil without such a file.
    ///
    /// - Throws: ``ConfigurationError`` if the file belongs to others, can be read or written by them, or holds no key.
    func read() throws -> Secret? {
        let data: Data?
        do throws(FileTrust.Problem) {
            data = try FileTrust.contents(of: path, atMost: 1_024, .readByOthers)
        } catch {
            throw failure(error.text(behind: path))
        }
        guard let data else { return nil }
        let key = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard key.utf8.count == 64, key.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw failure("holds no key")
        }
        return Secret(key)
    }

    /// The key in the file, which is made if there is none.
    ///
    /// - Throws: ``ConfigurationError`` if that is not possible.
    func readOrMake() throws -> Secret {
        if let key = try read() { return key }
        let key = SymmetricKey(size: .bits256).withUnsafeBytes(\.hexadecimal)
        let draft = path + "." + UUID().uuidString
        defer { unlink(draft) }
        try make(draft, holding: key + "\n")
        // A link never replaces a file: whoever comes second uses the first one's key.
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw failure("cannot be made: \(Self.reason(errno))")
        }
        guard let made = try read() else { throw failure("vanished") }
        return made
    }

    private func make(_ draft: String, holding text: String) throws {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be made: \(Self.reason(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw failure("cannot be written: \(Self.reason(errno))")
        }
    }

    private func failure(_ problem: String) -> ConfigurationError {
        ConfigurationError("SECRET_KEY", "is not set, and the key file \(path) \(problem)")
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}
