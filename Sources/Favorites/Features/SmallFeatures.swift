import Posts

/// Features that say nothing to a person who asks why a post is a favorite: signs, numbers and
/// function words.
///
/// The classifier uses them, because it judges worse without them; explanations list them last.
package enum SmallFeatures {
    /// Whether a feature is a sign, a number or a function word, or a pair of these; never for a
    /// hashtag, an author or an emoji.
    ///
    /// Accepts features in the stored and in the shown form (``WordPair/displayName(of:)``).
    package static func contains(_ feature: String) -> Bool {
        let words = WordPair.words(of: feature).flatMap { $0.split(separator: " ") }
        return words.allSatisfy { isSmall(String($0)) }
    }

    /// Whether a feature is a sign or a number, or a pair with one of them; never for a hashtag, an
    /// author or an emoji.
    package static func hasSign(_ feature: String) -> Bool {
        WordPair.words(of: feature).flatMap { $0.split(separator: " ") }.contains { word in
            !word.unicodeScalars.contains { $0.properties.isAlphabetic || isPicture($0) }
        }
    }

    private static func isSmall(_ feature: String) -> Bool {
        let scalars = Array(feature.unicodeScalars)
        guard let first = scalars.first else { return true }
        if scalars.count > 1, first == "@" || first == "#", scalars[1].isWord { return false }
        guard scalars.contains(where: \.isLetter) else {
            return !scalars.contains(where: isPicture)
        }
        return isShort(scalars) || words.contains(feature)
    }

    /// Whether a scalar is a pictograph: most emoji and dingbats (general category So).
    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .otherSymbol
    }

    /// Whether a word has too few letters to be meaningful in its script: two in alphabets, one of
    /// the kana.
    private static func isShort(_ scalars: [Unicode.Scalar]) -> Bool {
        let letters = scalars.filter(\.isLetter)
        if letters.count == 1, (0x3041...0x30FF).contains(letters[0].value) { return true }
        return letters.count < 3 && letters.allSatisfy { isAlphabetic($0.value) }
    }

    /// Whether a scalar is Latin, Greek, Cyrillic, Armenian or Georgian.
    private static func isAlphabetic(_ value: UInt32) -> Bool {
        switch value {
        case 0...0x58F, 0x10A0...0x10FF, 0x1C80...0x1CBF, 0x1E00...0x1FFF, 0x2C60...0x2C7F,
            0x2D00...0x2D2F,
            0xA640...0xA69F, 0xA720...0xA7FF:
            true
        default: false
        }
    }

    /// Articles, pronouns, prepositions, auxiliaries and the like of languages that are common on
    /// the networks, in the classifier's form: in lower case, and Japanese verbs by their base
    /// form.
    private static let words = Set(
        """
        the and but for nor yet with without from into onto over under about after before between through during
        against among around off out not all any both each every few more most much many other others some such own
        same than too very just only also even ever never still again here there where when why how what which who
        whom whose this that these those she her hers him his they them their theirs you your yours mine our ours its
        are was were been being has had have having does did doing done can could will would shall should may might
        must let got get gets going one ones was isn aren wasn weren don doesn didn won wouldn couldn shouldn hasn
        haven hadn ain can't cannot gonna wanna yes well then now while because until though although since upon via
        per etc lot lots thing things really quite maybe perhaps like

        こと もの の ん よう さん ちゃん くん 君 様 さま これ それ あれ どれ ここ そこ あそこ どこ こちら そちら どちら 私 僕 俺
        わたし ぼく おれ あたし あなた 自分 みんな 皆 誰 何 いつ ため とき 時 ところ 所 中 上 下 前 後 方 ほう まま はず わけ つもり
        ほど くらい ぐらい たち 達 ら 的 化 性 者 さ み 人 年 月 日 分 回 円 個 本 つ 目 今 今日 この その あの どの こんな そんな
        あんな どんな する ある いる なる れる られる せる させる てる でる いく 行く くる 来る やる くれる もらう あげる しまう おく
        みる 見る いう 言う 思う できる 出来る ちゃう とる すぎる 過ぎる そう こう ああ どう もう まだ とても すごい すごく ちょっと また
        もっと よく いい 良い よい ない 無い たい ほしい 欲しい らしい っぽい くる ござる いただく 頂く くださる 下さる はい うん ええ
        いや えっ まあ じゃあ ね よ

        der die das den dem des ein eine einen einem einer eines und oder aber doch denn weil dass wenn als wie wo wer
        was ich mich mir mein meine dich dir dein sie ihr ihm ihn uns unser euch sein seine ist sind war waren wird
        werden wurde hat haben hatte hatten kann können muss müssen soll will nicht kein keine auch nur noch schon mal
        mit ohne von vor nach bei aus auf für über unter zum zur vom beim hier dort dann jetzt sehr mehr man

        les des une aux est sont était être avoir ont avait pas plus très que qui quoi dont où quand comme mais donc
        car pour par avec sans sous sur dans chez entre vers cet cette ces son ses mon mes ton tes notre nos votre vos
        leur leurs elle elles ils nous vous lui moi toi soi tout tous toute toutes même aussi encore bien fait faire

        los las una unos unas del por para con sin sobre entre hasta desde pero porque como cuando donde que qué quien
        quién cual este esta esto estos estas ese esa eso esos esas aquel ella ellos ellas nosotros usted ustedes mis
        tus sus nuestro está están estaba era eran fue ser estar son hay han había más muy también sólo solo todo toda
        todos todas nada algo cada otro otra

        uma uns umas dos das nos nas pelo pela com sem sob mas porque quando onde quem qual este esta isso isto aquele
        ele ela eles elas você vocês meu minha seu sua não sim mais muito também são está estão foi era ser ter tem

        gli una dei delle della dello nel nella per con tra fra che chi cosa come quando dove non più anche solo sono
        sei siamo era erano essere avere hai abbiamo hanno questo questa questi queste quello quella mio mia tuo suo
        loro noi voi lui lei tutto tutti molto

        het een van voor met naar aan bij uit over onder door zonder maar want omdat als dan dat die deze dit wat wie
        waar hoe niet geen ook nog wel zijn was waren heeft hebben had kan moet zal wordt worden ben bent mijn jouw
        haar hun ons onze jullie zij hij

        это как что чтобы кто где когда если или для без под над при про через между после перед был была было были
        быть есть нет все всё всех весь вся мой моя мне меня тебя тебе его ему она они них нас вам вас ваш наш свой
        так тоже ещё еще уже только даже очень там тут этот эта эти того тот який від щоб він вона вони було бути
        дуже також ще вже

        και της του των την τον τις τους στο στη στην στον στα από για που πως δεν θα είναι ήταν ένα μια ένας αυτό
        αυτή αυτός

        그 이 저 것 수 안 못 더 다 또 왜 잘 좀 나 너 내 네 우리 그리고 그런데 하지만 있다 없다 하다 되다

        من في على إلى عن مع هذا هذه ذلك التي الذي هو هي هم أن إن لا ما لم لن كان كانت قد كل بعد قبل أو ثم بين

        של את על לא זה זאת אני אתה הוא היא הם אנחנו עם אל כל גם כי אם או מה מי אבל רק יש אין היה היתה

        और है हैं था थी थे का की के को में से पर ने तो यह ये वह वे भी ही हो एक नहीं मैं हम आप तुम जो कि कर लिए

        և էր էին այս այդ այն որ ինչ
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}
