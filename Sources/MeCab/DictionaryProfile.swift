import Foundation

/// The properties of a kind of MeCab dictionary that are needed to read word classes and base forms
/// from it.
///
/// Each kind numbers its parts of speech in its own way. To support another
/// kind, add a row to ``all``.
@usableFromInline package struct DictionaryProfile: Sendable {
    /// The value of `MECAB_DICTIONARY` that selects the profile.
    package let name: String
    /// The apt package that installs such a dictionary.
    package let aptPackage: String
    /// The paths at which distributions install it, in the order of search.
    package let searchPaths: [String]
    /// The position, in the record of a word, of its base form.
    package let baseFormField: Int
    /// The code points that the dictionary classifies as letters; it treats all others as symbols.
    let letters: [ClosedRange<UInt32>]
    /// The class of each part of speech number; higher numbers are `other`.
    @usableFromInline let classes: [WordClass]
    /// A sentence and the words into which a dictionary of this kind splits it.
    let probe: [ProbeWord]

    struct ProbeWord: Equatable, Sendable {
        let surface: String
        let wordClass: WordClass
        let baseForm: String?
    }

    /// The IPA dictionary in UTF-8, with the part of speech numbers of its `pos-id.def` and the
    /// letters of its `char.def`.
    package static let ipadic = DictionaryProfile(
        name: "ipadic-utf8",
        aptPackage: "mecab-ipadic-utf8",
        searchPaths: [
            "/var/lib/mecab/dic/ipadic-utf8",
            "/usr/lib/x86_64-linux-gnu/mecab/dic/ipadic-utf8",
            "/usr/lib/aarch64-linux-gnu/mecab/dic/ipadic-utf8",
            "/usr/lib/mecab/dic/ipadic-utf8",
            "/usr/local/lib/mecab/dic/ipadic-utf8",
            "/usr/local/lib/mecab/dic/ipadic",
            "/opt/homebrew/lib/mecab/dic/ipadic",
            "/app/.apt/var/lib/mecab/dic/ipadic-utf8",
        ],
        baseFormField: 6,
        letters: [
            // ASCII and Latin, Greek, Cyrillic, Vietnamese; signs; kana and kanji, including their
            // later additions.
            0x20...0x236, 0x374...0x3FB, 0x400...0x4F9, 0x500...0x50F, 0x1E00...0x1EF9,
            0x2000...0x2BFF,
            0x2E80...0x30FF, 0x31F0...0x4DB5, 0x4E00...0x9FFF, 0xF900...0xFA6A, 0xFE30...0xFE6B,
            0xFF01...0xFFEF,
        ],
        ranges: [
            (2...2, .interjection), (10...12, .adjective), (31...33, .verb), (34...35, .adverb),
            (36...67, .noun),
            (68...68, .adnominal),
        ],
        probe: [
            ProbeWord(surface: "白い", wordClass: .adjective, baseForm: "白い"),
            ProbeWord(surface: "猫", wordClass: .noun, baseForm: nil),
            ProbeWord(surface: "を", wordClass: .other, baseForm: nil),
            ProbeWord(surface: "見", wordClass: .verb, baseForm: "見る"),
            ProbeWord(surface: "た", wordClass: .other, baseForm: nil),
        ]
    )

    /// All supported kinds of dictionaries.
    package static let all = [ipadic]

    private init(
        name: String, aptPackage: String, searchPaths: [String], baseFormField: Int,
        letters: [ClosedRange<UInt32>],
        ranges: [(ClosedRange<Int>, WordClass)], probe: [ProbeWord]
    ) {
        self.name = name
        self.aptPackage = aptPackage
        self.searchPaths = searchPaths
        self.baseFormField = baseFormField
        self.letters = letters
        self.probe = probe
        var classes: [WordClass] = []
        for (range, wordClass) in ranges {
            classes += Array(repeating: .other, count: max(0, range.upperBound + 1 - classes.count))
            for number in range { classes[number] = wordClass }
        }
        self.classes = classes
    }

    /// Whether the dictionary can classify a scalar as a letter, mark or digit; it treats scalars
    /// for which this is false as symbols.
    package func lists(_ scalar: Unicode.Scalar) -> Bool {
        letters.contains { $0.contains(scalar.value) }
    }

    /// The class of a word with this part of speech number.
    @inlinable package func wordClass(_ partOfSpeech: Int) -> WordClass {
        classes.indices.contains(partOfSpeech) ? classes[partOfSpeech] : .other
    }

    /// Turns a value of `MECAB_DICTIONARY` into a profile and the folders to try.
    ///
    /// - Parameter value: The name of a profile, or the path of a folder (recognised by a slash),
    ///   which is then expected to hold an IPA dictionary.
    /// - Returns: The profile, and the folders that hold a compiled dictionary, best first; never
    ///   empty.
    /// - Throws: ``MeCabError`` with code `.dictionaryNotFound`.
    package static func locate(_ value: String) throws(MeCabError) -> (
        profile: Self, folders: [String]
    ) {
        if value.contains("/") {
            guard isCompiled(value) else {
                throw MeCabError(
                    .dictionaryNotFound,
                    "could not open the MeCab dictionary: MECAB_DICTIONARY names \(value), "
                        + "which holds no compiled dictionary (sys.dic); \(ipadic.advice)")
            }
            return (ipadic, [value])
        }
        guard let profile = all.first(where: { $0.name == value }) else {
            let names = all.map(\.name).joined(separator: ", ")
            throw MeCabError(
                .dictionaryNotFound,
                "could not open the MeCab dictionary: MECAB_DICTIONARY is \"\(value)\"; "
                    + "expected \(names) or the path of a folder")
        }
        let folders = profile.searchPaths.filter(isCompiled)
        guard !folders.isEmpty else {
            throw MeCabError(
                .dictionaryNotFound,
                "could not open the MeCab dictionary: \(value) is not installed; \(profile.advice)")
        }
        return (profile, folders)
    }

    /// The part of an error message that says how to install a dictionary of this kind.
    var advice: String {
        "run `make deps` or install the apt package \(aptPackage), or set MECAB_DICTIONARY to the folder of the dictionary"
    }

    private static func isCompiled(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/sys.dic")
    }
}
