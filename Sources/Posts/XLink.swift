import Foundation

/// Finds the texts that X turns into links, with or without `https://`.
package enum XLink {
    /// Whether X may make a link of any part of the text.
    package static func occurs(in text: String) -> Bool {
        let scalars = Array(text.precomposedStringWithCanonicalMapping.unicodeScalars)
        var position = 0
        while position < scalars.count {
            if let run = Run(at: position, in: scalars) {
                if run.mayBeLink { return true }
                position = run.end
            } else {
                position += 1
            }
        }
        return false
    }

    /// Returns the weight of the run of host characters at `position` and the end of the counted
    /// part; `nil` if there is none.
    static func cost(at position: Int, in scalars: [Unicode.Scalar]) -> (cost: Int, end: Int)? {
        guard let run = Run(at: position, in: scalars) else { return nil }
        if run.isCertain { return (XWeightedText.linkWeight, pathEnd(after: run.end, in: scalars)) }
        let textWeight = weight(of: scalars[position..<run.end])
        guard let shortestLink = run.shortestLink else { return (textWeight, run.end) }
        // X may end the link after any label that can be a top-level domain; the rest is then
        // counted as text.
        return (
            max(textWeight, textWeight - weight(of: shortestLink) + XWeightedText.linkWeight),
            run.end
        )
    }

    private static func weight(of scalars: ArraySlice<Unicode.Scalar>) -> Int {
        scalars.reduce(0) { $0 + XWeightedText.weight(of: $1) }
    }

    /// The end of a link's port, path and query, without the characters that X excludes at the end.
    private static func pathEnd(after hostEnd: Int, in scalars: [Unicode.Scalar]) -> Int {
        func end(
            of start: Int, allowing isInside: (Unicode.Scalar) -> Bool,
            endingWith isLast: (Unicode.Scalar) -> Bool
        ) -> Int {
            let part = scalars[start...].prefix { $0.isASCII && isInside($0) }
            return part.lastIndex(where: isLast).map { $0 + 1 } ?? start
        }
        var position = hostEnd
        if position < scalars.count, scalars[position] == ":" {
            let digits = scalars[(position + 1)...].prefix { ("0"..."9").contains($0) }
            if !digits.isEmpty { position = digits.endIndex }
        }
        if position < scalars.count, scalars[position] == "/" {
            position = end(
                of: position,
                allowing: {
                    $0.isASCIIAlphanumeric || "/!*';:=+,.$%#[]-_~@|&".unicodeScalars.contains($0)
                },
                endingWith: { $0.isASCIIAlphanumeric || "+-=_#/".unicodeScalars.contains($0) })
        }
        if position < scalars.count, scalars[position] == "?" {
            let query = end(
                of: position + 1,
                allowing: {
                    $0.isASCIIAlphanumeric || "!?*'@();:&=+$/%#[]-_.,~|".unicodeScalars.contains($0)
                },
                endingWith: { $0.isASCIIAlphanumeric || "_&=#/-".unicodeScalars.contains($0) })
            if query > position + 1 { position = query }
        }
        return position
    }

    /// A run of characters that may be a host, with the scheme before it.
    private struct Run {
        /// The end of the host.
        let end: Int
        /// Whether X certainly recognizes the link up to `end`.
        let isCertain: Bool
        /// The shortest part that X could read as a link; nil for none.
        let shortestLink: ArraySlice<Unicode.Scalar>?

        var mayBeLink: Bool { shortestLink != nil }

        init?(at position: Int, in scalars: [Unicode.Scalar]) {
            let schemeEnd = Self.schemeEnd(at: position, in: scalars)
            let start = schemeEnd ?? position
            let end = Self.hostEnd(from: start, in: scalars)
            guard end > start else { return nil }
            self.end = end
            let previous = position > 0 ? scalars[position - 1] : nil
            let mayBegin = Self.mayPrecede(previous, hasScheme: schemeEnd != nil)
            let follower = end < scalars.count ? scalars[end] : nil
            isCertain =
                schemeEnd != nil && mayBegin && follower != "@"
                && Self.isKnownHost(scalars[start..<end])
            if mayBegin || schemeEnd != nil {
                shortestLink = Self.shortestLink(
                    ofHost: scalars[start..<end], from: position, in: scalars)
            } else {
                // Within the run, X can begin a link only after a letter with an accent.
                let afterAccent = scalars[start..<end].drop(while: \.isASCII).dropFirst()
                shortestLink = Self.shortestLink(
                    ofHost: afterAccent, from: afterAccent.startIndex, in: scalars)
            }
        }

        private static func hostEnd(from start: Int, in scalars: [Unicode.Scalar]) -> Int {
            var end = start
            while end < scalars.count, scalars[end].isHostScalar {
                // A scheme begins a separate link, unless it is the end of a word.
                if end > start, !scalars[end - 1].isASCIIAlphanumeric,
                    schemeEnd(at: end, in: scalars) != nil
                {
                    return end
                }
                end += 1
            }
            // The last digit is part of a keycap emoji.
            let endsInKeycap =
                end < scalars.count && (scalars[end] == "\u{FE0F}" || scalars[end] == "\u{20E3}")
            return endsInKeycap && end > start ? end - 1 : end
        }

        private static func schemeEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
            guard scalars[position] == "h" || scalars[position] == "H" else { return nil }
            for scheme in ["https://", "http://"] {
                let beginning = scalars[position...].prefix(scheme.unicodeScalars.count)
                if String(String.UnicodeScalarView(beginning)).lowercased() == scheme {
                    return beginning.endIndex
                }
            }
            return nil
        }

        /// Whether a link may begin after `scalar`.
        private static func mayPrecede(_ scalar: Unicode.Scalar?, hasScheme: Bool) -> Bool {
            guard let scalar else { return true }
            if scalar.isASCIIAlphanumeric || "@＠$#＃".unicodeScalars.contains(scalar) {
                return false
            }
            return hasScheme || !"-_./".unicodeScalars.contains(scalar)
        }

        private static func isKnownHost(_ host: ArraySlice<Unicode.Scalar>) -> Bool {
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.count > 1, let top = labels.last, host.allSatisfy(\.isASCII) else {
                return false
            }
            let areLabels = labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != "-" && label.last != "-"
                    && !label.contains("_")
            }
            return areLabels && TopLevelDomains.contains(String(String.UnicodeScalarView(top)))
        }

        /// Returns the part up to the end of the first label in `host` that may be a top-level
        /// domain.
        private static func shortestLink(
            ofHost host: ArraySlice<Unicode.Scalar>, from start: Int, in scalars: [Unicode.Scalar]
        ) -> ArraySlice<Unicode.Scalar>? {
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            for (name, top) in zip(labels, labels.dropFirst()) where !name.isEmpty {
                if hasPunycodePrefix(top) { return scalars[start..<top.endIndex] }
                let letters = top.prefix { $0.isASCII && $0.properties.isAlphabetic }
                let follower = top.dropFirst(letters.count).first
                if letters.count > 1, follower?.isASCIIAlphanumeric != true {
                    return scalars[start..<letters.endIndex]
                }
                if top.isEmpty, let end = TopLevelDomains.foreignEnd(at: top.endIndex, in: scalars)
                {
                    return scalars[start..<end]
                }
            }
            return nil
        }

        private static func hasPunycodePrefix(_ label: ArraySlice<Unicode.Scalar>) -> Bool {
            String(String.UnicodeScalarView(label.prefix(4))).lowercased() == "xn--"
        }
    }
}

extension Unicode.Scalar {
    /// Whether X allows it in a host: ASCII, or a Latin letter with an accent.
    fileprivate var isHostScalar: Bool {
        if isASCIIAlphanumeric || self == "-" || self == "_" || self == "." { return true }
        return switch value {
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x24F, 0x253...0x254, 0x256...0x257, 0x259, 0x25B,
            0x263, 0x268, 0x26F,
            0x272, 0x289, 0x28B, 0x2BB, 0x300...0x36F, 0x1E00...0x1EFF:
            true
        default: false
        }
    }
}

/// Top-level domains that X knows: the most frequent ones, not all 1,500.
enum TopLevelDomains {
    private static let generic: Set<String> = [
        "aero", "app", "art", "asia", "biz", "blog", "cat", "cloud", "com", "coop", "dev", "edu",
        "gov", "info", "int",
        "jobs", "mil", "mobi", "museum", "name", "net", "news", "online", "org", "page", "post",
        "pro", "shop", "site",
        "social", "space", "store", "tel", "tokyo", "travel", "wiki", "world", "xyz",
    ]

    private static let countries: Set<String> = [
        "ac", "ad", "ae", "af", "ag", "ai", "al", "am", "ar", "at", "au", "az", "ba", "bd", "be",
        "bg", "br", "by",
        "ca", "cc", "cd", "ch", "ci", "cl", "cn", "co", "cr", "cu", "cy", "cz", "de", "dk", "do",
        "dz", "ec", "ee",
        "eg", "es", "eu", "fi", "fm", "fr", "gb", "ge", "gg", "gh", "gl", "gr", "gt", "hk", "hr",
        "hu", "id", "ie",
        "il", "im", "in", "io", "iq", "ir", "is", "it", "jo", "jp", "ke", "kg", "kr", "kw", "kz",
        "la", "lb", "li",
        "lk", "lt", "lu", "lv", "ly", "ma", "md", "me", "mg", "mk", "mn", "mt", "mx", "my", "ng",
        "nl", "no", "np",
        "nu", "nz", "pa", "pe", "ph", "pk", "pl", "pt", "py", "qa", "ro", "rs", "ru", "sa", "se",
        "sg", "sh", "si",
        "sk", "so", "st", "su", "th", "tk", "tn", "to", "tr", "tv", "tw", "ua", "uk", "us", "uy",
        "uz", "ve", "vn",
        "ws", "za",
    ]

    /// The domains in other scripts.
    ///
    /// X recognizes them even without a space after them: `Vol.みんなで` contains one.
    private static let foreign: Set<String> = [
        "みんな", "アマゾン", "クラウド", "グーグル", "コム", "ストア", "セール", "ファッション", "ポイント", "家電", "食品", "通販",
        "世界", "中国", "中國", "中文网", "中信", "企业", "佛山", "信息", "健康", "八卦", "公司", "公益", "台湾", "台灣", "商城",
        "商店", "商标", "嘉里", "在线", "大众汽车", "大拿", "天主教", "娱乐", "工行", "广东", "微博", "慈善", "我爱你", "手机",
        "手表",
        "拍卖", "招聘", "政务", "政府", "新加坡", "新闻", "时尚", "書籍", "机构", "淡马锡", "游戏", "澳門", "点看", "珠宝", "移动",
        "组织机构", "网址", "网店", "网站", "网络", "臺灣", "诺基亚", "谷歌", "购物", "集团", "電訊盈科", "飞利浦", "餐厅", "香格里拉",
        "香港", "닷넷", "닷컴", "삼성", "한국", "бг", "бел", "дети", "ею", "католик", "ком", "мкд", "мон",
        "москва", "онлайн",
        "орг",
        "рус", "рф", "сайт", "срб", "укр", "қаз", "ελ", "ευ",
    ]

    private static let foreignLengths = 2...7

    /// Whether a label is a known top-level domain in ASCII.
    static func contains(_ label: String) -> Bool {
        let name = label.lowercased()
        return generic.contains(name) || countries.contains(name)
    }

    /// Whether a label is a known top-level domain in another script.
    static func isForeign(_ label: String) -> Bool { foreign.contains(label.lowercased()) }

    /// The end of the shortest known top-level domain in another script that begins at `position`.
    static func foreignEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard position < scalars.count, !scalars[position].isASCII else { return nil }
        let candidate = scalars[position...].prefix(foreignLengths.upperBound)
        return foreignLengths.first { length in
            length <= candidate.count
                && foreign.contains(
                    String(String.UnicodeScalarView(candidate.prefix(length))).lowercased())
        }.map { position + $0 }
    }
}
