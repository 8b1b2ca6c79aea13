import CBaseline
import MeCab

/// Owns the baseline's dictionary and one tokeniser over it.
final class CTokeniser: @unchecked Sendable {
    // Sendable: the pointers never change, and only one thread at a time is given the work.
    let model: OpaquePointer
    let tokeniser: OpaquePointer

    /// Opens the folder that ``Tokenizer`` finds.
    init() throws {
        guard
            let folder = try DictionaryProfile.locate(DictionaryProfile.ipadic.name).folders.first,
            let model = baseline_model_open(folder)
        else { throw BaselineError.last() }
        guard let tokeniser = baseline_tokeniser_new(model) else {
            baseline_model_close(model)
            throw BaselineError.last()
        }
        self.model = model
        self.tokeniser = tokeniser
    }

    deinit {
        baseline_tokeniser_free(tokeniser)
        baseline_model_close(model)
    }

    /// The words that the baseline picks from a text, to compare them with ours.
    func words(of text: String, _ choice: baseline_choice) throws -> [String] {
        var words = baseline_words()
        defer { baseline_words_free(&words) }
        var text = text
        let result = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                baseline_pick(tokeniser, $0.baseAddress, $0.count, choice, &words)
            }
        }
        _ = try BaselineError.check(result)
        let bytes = UnsafeRawBufferPointer(start: words.bytes, count: words.size)
        let ends = UnsafeBufferPointer(start: words.ends, count: words.count).map { Int($0) }
        return zip([0] + ends, ends).map { String(decoding: bytes[$0..<$1], as: UTF8.self) }
    }
}
