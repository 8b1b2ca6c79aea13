import Foundation
import Posts
import Transport

/// What of a server's answer may stand in an error: little of it, on one line, and nothing secret.
enum ErrorText {
    /// A larger body is not looked at for an error message, in bytes.
    static let maximumBody = 65_536
    /// The most of a server's own words that is kept, in code points: a character may consist of any number of them.
    private static let maximumLength = 160

    /// The words that a server put where its interface says.
    ///
    /// - Parameters:
    ///   - text: What it said.
    ///   - redact: Takes secrets out of a text.
    /// - Returns: The words as they may be printed; nil if there are none.
    static func words(_ text: String, redact: (String) -> String) -> String? {
        let safe = redact(PlainText.cleaned(text).split(whereSeparator: \.isWhitespace).joined(separator: " "))
        return safe.isEmpty ? nil : String(String.UnicodeScalarView(safe.unicodeScalars.prefix(maximumLength)))
    }

    /// How a server calls a request; nil for what is no short plain word.
    ///
    /// - Parameters:
    ///   - header: The header that should say it.
    ///   - redact: Takes secrets out of a text.
    /// - Returns: The name as it may be printed.
    static func requestID(_ header: String?, redact: (String) -> String) -> String? {
        guard let header, (1...64).contains(header.utf8.count), header.isVisibleASCII else { return nil }
        return redact(header)
    }
}

extension StringProtocol {
    /// Whether there is nothing but visible ASCII characters, so that the text can stand in a header.
    var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

extension TransportError {
    /// What the failure is to whoever called a network.
    var networkCode: NetworkError.Code {
        switch code {
        case .invalidURL, .forbiddenScheme, .invalidHeader: .configuration
        case .tooLarge: .tooLarge
        default: .transport
        }
    }

    /// The answer, if it is a refusal of which only the words were too many.
    var refusal: HTTPResponse? { beginning.flatMap { (200...299).contains($0.status) ? nil : $0 } }

    /// What became of a write.
    var outcome: NetworkError.Outcome { requestDidNotLeave ? .notSent : .unknown }
}
