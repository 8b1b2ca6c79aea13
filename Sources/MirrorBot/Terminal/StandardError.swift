import Foundation

/// Standard error, where everything goes that is not an answer.
enum StandardError {
    /// Writes `text` as it is.
    ///
    /// What cannot be written is lost: a closed pipe or a full disk behind the
    /// log must not end the worker.
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
