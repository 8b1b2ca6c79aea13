internal import CMeCab
import Foundation
import Synchronization

/// An opened MeCab dictionary that cuts Japanese text into words.
///
/// One model and one tagger serve all threads; each analysis has a lattice of
/// its own, taken from a small pool. An analysis is pure CPU work of some
/// microseconds and may run on the cooperative pool.
@usableFromInline package final class MeCabModel: @unchecked Sendable {
    // Sendable: MeCab allows one model and one tagger to be used from many threads as long as each
    // uses a lattice of its own (mecab_parse_lattice); the pool of idle lattices is thread-safe.
    private let model: OpaquePointer
    private let tagger: OpaquePointer
    private let lattices = PointerPool()

    /// The number of words in the dictionary, which distinguishes its versions.
    package let wordCount: Int

    /// The longest text, in bytes, that ``forEachMorpheme(in:_:)-(String,_)`` accepts.
    package static let maximumBytes = 1 << 20

    /// Opens a dictionary.
    ///
    /// MeCab's own configuration files are not read, so that the result does
    /// not depend on which dictionary a machine has chosen as its default.
    ///
    /// - Parameter dictionaryPath: The folder of a compiled dictionary; it may contain spaces.
    /// - Throws: ``MeCabError`` with code `.dictionaryUnreadable`, or `.wrongDictionary` if it is
    ///   not in UTF-8.
    package init(dictionaryPath: String) throws(MeCabError) {
        let opened = try Self.open(dictionaryPath)
        self.model = opened.model
        self.tagger = opened.tagger
        self.wordCount = opened.wordCount
    }

    deinit {
        while let lattice = lattices.take() { mecab_lattice_destroy(lattice) }
        mecab_destroy(tagger)
        mecab_model_destroy(model)
    }

    /// Splits a text into words and passes them one by one to `body`.
    ///
    /// - Parameters:
    ///   - text: The text to analyse. The time grows with the square of the length of a run of
    ///     unknown letters, so callers limit and break up text from strangers.
    ///   - body: Called for each word in order; it must not keep the word.
    /// - Throws: ``MeCabError`` with code `.textTooLong` or `.parsing`.
    @inlinable package func forEachMorpheme(in text: String, _ body: (Morpheme) -> Void)
        throws(MeCabError)
    {
        var text = text
        // A closure with a typed `throws` would not be inlined into the caller.
        let failure = text.withUTF8 { bytes -> MeCabError? in
            do throws(MeCabError) {
                try forEachMorpheme(in: bytes, body)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Splits a text in UTF-8 into words and passes them one by one to `body`.
    @inlinable package func forEachMorpheme(
        in text: UnsafeBufferPointer<UInt8>, _ body: (Morpheme) -> Void
    ) throws(MeCabError) {
        guard !text.isEmpty else { return }
        // MeCab reads one byte past the end of a text, and up to the next zero byte if the text
        // ends with a space.
        let terminated = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count + 1)
        defer { terminated.deallocate() }
        let end = terminated.initialize(fromContentsOf: text)
        terminated.initializeElement(at: end, to: 0)
        // This function is inlined into its caller, so that the call of `body` for each word costs
        // nothing. The functions that it calls run once for each text, and are not inlined.
        let lattice = try analysed(UnsafeBufferPointer(rebasing: terminated[..<end]))
        var cursor = MorphemeCursor(lattice)
        while let word = cursor.next() { body(word) }
        giveBack(lattice)
    }

    /// Splits a text that is not empty into words; a zero byte must follow it.
    ///
    /// - Returns: A lattice with the words, which point into the text; pass it to `giveBack(_:)`.
    /// - Throws: ``MeCabError`` with code `.textTooLong` or `.parsing`.
    @usableFromInline func analysed(_ text: UnsafeBufferPointer<UInt8>) throws(MeCabError)
        -> OpaquePointer
    {
        guard text.count <= Self.maximumBytes else {
            throw MeCabError(
                .textTooLong,
                "could not analyse a text: it is longer than \(Self.maximumBytes) bytes")
        }
        guard let lattice = lattices.take() ?? mecab_model_new_lattice(model) else {
            throw MeCabError(.parsing, "could not analyse a text: MeCab has no memory for it")
        }
        text.withMemoryRebound(to: CChar.self) { characters in
            mecab_lattice_set_sentence2(lattice, characters.baseAddress, characters.count)
        }
        guard mecab_parse_lattice(tagger, lattice) != 0 else {
            let reason = Self.message(mecab_lattice_strerror(lattice))
            giveBack(lattice)
            throw MeCabError(.parsing, "could not analyse a text: \(reason)")
        }
        return lattice
    }

    /// Clears the words of a lattice and keeps it for another text.
    @usableFromInline func giveBack(_ lattice: OpaquePointer) {
        // The lattice must not keep pointers into the caller's text.
        mecab_lattice_clear(lattice)
        if !lattices.put(lattice) { mecab_lattice_destroy(lattice) }
    }

    private static func open(
        _ path: String
    ) throws(MeCabError) -> (model: OpaquePointer, tagger: OpaquePointer, wordCount: Int) {
        guard let model = makeModel(path) else {
            throw MeCabError(
                .dictionaryUnreadable,
                "could not open the MeCab dictionary \(path): \(message(mecab_strerror(nil)))")
        }
        // No `deinit` frees the model before the initializer has stored it, so a failure frees it
        // explicitly.
        do throws(MeCabError) {
            let wordCount = try checkedWordCount(model, path)
            guard let tagger = mecab_model_new_tagger(model) else {
                throw MeCabError(
                    .dictionaryUnreadable,
                    "could not open the MeCab dictionary \(path): \(message(mecab_strerror(nil)))")
            }
            return (model, tagger, wordCount)
        } catch {
            mecab_model_destroy(model)
            throw error
        }
    }

    /// Opens a model with its options as separate arguments, because MeCab splits a single string
    /// at spaces.
    private static func makeModel(_ path: String) -> OpaquePointer? {
        let options: [String] = ["mecab", "-r", "/dev/null", "-d", path]
        var arguments: [UnsafeMutablePointer<CChar>?] = options.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        return mecab_model_new(Int32(arguments.count), &arguments)
    }

    private static func checkedWordCount(_ model: OpaquePointer, _ path: String) throws(MeCabError)
        -> Int
    {
        var total = 0
        var nextDictionary = mecab_model_dictionary_info(model)
        while let dictionary = nextDictionary {
            let charset = dictionary.pointee.charset.map { String(cString: $0) } ?? "unknown"
            guard charset.uppercased() == "UTF-8" || charset.uppercased() == "UTF8" else {
                throw MeCabError(
                    .wrongDictionary,
                    "could not use the MeCab dictionary \(path): its text is \(charset), not UTF-8; "
                        + DictionaryProfile.ipadic.advice)
            }
            total += Int(dictionary.pointee.size)
            nextDictionary = UnsafePointer(dictionary.pointee.next)
        }
        return total
    }

    private static func message(_ text: UnsafePointer<CChar>?) -> String {
        let message = text.map { String(cString: $0) } ?? ""
        return message.isEmpty ? "MeCab gives no reason" : message
    }
}

/// A pool of a few idle objects of a C library, shared by all threads.
///
/// It never blocks, and a thread most often gets the object that it put in last, which its
/// processor has in its cache. With one lock for all, two threads that split short texts spent a
/// tenth of their time on the lock.
final class PointerPool: @unchecked Sendable {
    // Sendable: each slot changes in one atomic step, so only one thread can take an object out.
    private static let capacity = 8
    /// The distance between two slots: so large that each has a processor's cache line for itself.
    private static let stride = 128 / MemoryLayout<Atomic<UInt>>.stride

    /// The addresses of the objects; 0 in an empty slot.
    private let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: capacity * stride)

    init() {
        for index in 0..<Self.capacity * Self.stride { (slots + index).initialize(to: Atomic(0)) }
    }

    /// The owner frees the objects that are left.
    deinit { slots.deallocate() }

    /// Takes an object out; nil if there is none.
    func take() -> OpaquePointer? {
        let startSlot = Self.startSlot
        for step in 0..<Self.capacity {
            let slot = slots + (startSlot + step) % Self.capacity * Self.stride
            guard slot.pointee.load(ordering: .relaxed) != 0 else { continue }
            let address = slot.pointee.exchange(0, ordering: .acquiring)
            if let object = OpaquePointer(bitPattern: address) { return object }
        }
        return nil
    }

    /// Puts an object in.
    ///
    /// - Returns: False if there is no room for it.
    func put(_ object: OpaquePointer) -> Bool {
        let startSlot = Self.startSlot
        let address = UInt(bitPattern: object)
        for step in 0..<Self.capacity {
            let slot = slots + (startSlot + step) % Self.capacity * Self.stride
            guard slot.pointee.load(ordering: .relaxed) == 0 else { continue }
            if slot.pointee.compareExchange(expected: 0, desired: address, ordering: .releasing)
                .exchanged
            {
                return true
            }
        }
        return false
    }

    /// The slot at which the calling thread begins its search.
    private static var startSlot: Int {
        let thread = withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
        // Thread handles are addresses far apart with equal low bits, so they are hashed (Fibonacci
        // hashing). The top three bits of the product are the number of one of the eight slots.
        return Int((UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 61)
    }
}

/// Why MeCab could not be opened or could not analyse a text.
@usableFromInline package struct MeCabError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// No folder of that name or path holds a compiled dictionary.
        package static let dictionaryNotFound = Code(description: "dictionary-not-found")
        /// There is a dictionary, but MeCab refuses to open it.
        package static let dictionaryUnreadable = Code(description: "dictionary-unreadable")
        /// The dictionary opens, but is not UTF-8 or numbers its parts of speech in another way.
        package static let wrongDictionary = Code(description: "wrong-dictionary")
        /// The text is longer than ``MeCabModel/maximumBytes``.
        package static let textTooLong = Code(description: "text-too-long")
        /// MeCab gave up on a text.
        package static let parsing = Code(description: "parsing")
    }

    package let code: Code
    /// One line for people; it never contains the analysed text.
    @usableFromInline package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
