/// Ends of host names that X knows: those that people write most, not all 1,500.
enum TopLevelDomains {
    private static let generic: Set<String> = [
        "aero", "app", "art", "asia", "biz", "blog", "cat", "cloud", "com", "coop", "dev", "edu", "gov", "info", "int",
        "jobs", "mil", "mobi", "museum", "name", "net", "news", "online", "org", "page", "post", "pro", "shop", "site",
        "social", "space", "store", "tel", "tokyo", "travel", "wiki", "world", "xyz",
    ]

    private static let countries: Set<String> = [
        "ac", "ad", "ae", "af", "ag", "ai", "al", "am", "ar", "at", "au", "az", "ba", "bd", "be", "bg", "br", "by",
        "ca", "cc", "cd", "ch", "ci", "cl", "cn", "co", "cr", "cu", "cy", "cz", "de", "dk", "do", "dz", "ec", "ee",
        "eg", "es", "eu", "fi", "fm", "fr", "gb", "ge", "gg", "gh", "gl", "gr", "gt", "hk", "hr", "hu", "id", "ie",
        "il", "im", "in", "io", "iq", "ir", "is", "it", "jo", "jp", "ke", "kg", "kr", "kw", "kz", "la", "lb", "li",
        "lk", "lt", "lu", "lv", "ly", "ma", "md", "me", "mg", "mk", "mn", "mt", "mx", "my", "ng", "nl", "no", "np",
        "nu", "nz", "pa", "pe", "ph", "pk", "pl", "pt", "py", "qa", "ro", "rs", "ru", "sa", "se", "sg", "sh", "si",
        "sk", "so", "st", "su", "th", "tk", "tn", "to", "tr", "tv", "tw", "ua", "uk", "us", "uy", "uz", "ve", "vn",
        "ws", "za",
    ]

    /// In other scripts, where no space need follow: `Vol.みんなで` has one in it.
    private static let foreign: Set<String> = [
        "みんな", "アマゾン", "クラウド", "グーグル", "コム", "ストア", "セール", "ファッション", "ポイント", "家電", "食品", "通販",
        "世界", "中国", "中國", "中文网", "中信", "企业", "佛山", "信息", "健康", "八卦", "公司", "公益", "台湾", "台灣", "商城",
        "商店", "商标", "嘉里", "在线", "大众汽车", "大拿", "天主教", "娱乐", "工行", "广东", "微博", "慈善", "我爱你", "手机", "手表",
        "拍卖", "招聘", "政务", "政府", "新加坡", "新闻", "时尚", "書籍", "机构", "淡马锡", "游戏", "澳門", "点看", "珠宝", "移动",
        "组织机构", "网址", "网店", "网站", "网络", "臺灣", "诺基亚", "谷歌", "购物", "集团", "電訊盈科", "飞利浦", "餐厅", "香格里拉",
        "香港", "닷넷", "닷컴", "삼성", "한국", "бг", "бел", "дети", "ею", "католик", "ком", "мкд", "мон", "москва", "онлайн",
        "орг",
        "рус", "рф", "сайт", "срб", "укр", "қаз", "ελ", "ευ",
    ]

    private static let foreignLengths = 2...7

    /// Whether a label that ends a host is surely known.
    static func contains(_ label: String) -> Bool {
        let name = label.lowercased()
        return generic.contains(name) || countries.contains(name)
    }

    /// The end of the shortest known one in another script that begins at `position`.
    static func foreignEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard position < scalars.count, !scalars[position].isASCII else { return nil }
        let rest = scalars[position...].prefix(foreignLengths.upperBound)
        return foreignLengths.first { length in
            length <= rest.count
                && foreign.contains(String(String.UnicodeScalarView(rest.prefix(length))).lowercased())
        }.map { position + $0 }
    }
}
