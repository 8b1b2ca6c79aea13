/// Passwords that attackers try first.
///
/// The words below are frequent passwords of published leaks: those among the first thousand that
/// consist of a word. They were written down from general knowledge, not copied from a list.
/// Sequences, repetitions and numbers are found by rules. A word is also recognized with digits and
/// signs around it and with signs in place of letters: `Dragon123!`, `p@ssw0rd`.
enum WeakPassword {
    /// The number of digits below which a number is guessed, such as a date, a telephone number or
    /// `12345678`.
    private static let guessedDigits = 12
    /// The lengths of repeated parts that are recognized: `aaaaaaaa`, `abcabcabc`, `12341234`.
    private static let repeatedLengths = 1...4
    /// Rows of keys and the alphabet, whose sequences are recognized.
    private static let rows = [
        "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm",
        "wxcvbn",
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
        "1q2w3e4r5t6y7u8i9o0p",
        "q1w2e3r4t5y6u7i8o9p0", "qazwsxedcrfvtgbyhnujmikolp", "!@#$%^&*()", "zaq12wsxcde34rfv",
        "a1b2c3d4e5f6g7h8",
        "qweasdzxc", "qwerasdfzxcv", "qwe123asd456zxc789", "asd123qwe456",
    ]

    /// Whether an attacker would soon guess this password.
    static func isGuessed(_ password: String) -> Bool {
        let text = password.lowercased()
        let plain = text.filter { !$0.isWhitespace }
        if plain.count < 4 { return true }
        // A text of fewer than four different characters is guessed unless it is long.
        if Set(plain).count < 4, plain.count < 16 { return true }
        if plain.allSatisfy(\.isNumber), plain.count < guessedDigits { return true }
        if isRepetition(plain) || isSequence(plain) { return true }
        return variants(of: plain).contains { isWord($0) || isSequence($0) }
    }

    private static func isRepetition(_ text: String) -> Bool {
        let signs = Array(text)
        return repeatedLengths.contains { length in
            // Each character equals the one at the same place of the first part.
            signs.indices.allSatisfy { signs[$0] == signs[$0 % length] }
        }
    }

    /// Whether the text is a part of a row of keys, or of a row written twice.
    private static func isSequence(_ text: String) -> Bool {
        guard text.count >= 4 else { return false }
        return rows.contains { row in
            let directions = [row, String(row.reversed())]
            return directions.contains { $0.contains(text) || ($0 + $0).contains(text) }
        }
    }

    /// Variants of the text: without digits and signs at its ends or at all, as typed and with
    /// letters in place of the signs that look like them.
    private static func variants(of text: String) -> Set<String> {
        let inner = trimmed(text)
        let readings = [text, inner].flatMap { [$0, letters(of: $0)] }
        return Set(readings.flatMap { [trimmed($0), $0.filter(\.isLetter)] })
    }

    private static func letters(of text: String) -> String {
        String(text.map { lookalikes[$0] ?? $0 })
    }

    /// Returns the text without the characters before its first and after its last letter.
    private static func trimmed(_ text: String) -> String {
        let withoutStart = text.drop { !$0.isLetter }
        let reversedCore = withoutStart.reversed().drop { !$0.isLetter }
        return String(reversedCore.reversed())
    }

    private static let lookalikes: [Character: Character] = [
        "@": "a", "4": "a", "3": "e", "1": "i", "!": "i", "0": "o", "5": "s", "$": "s", "7": "t",
    ]

    /// Whether the text is one of the words, or one of the words written twice.
    private static func isWord(_ text: String) -> Bool {
        if words.contains(text) { return true }
        let half = text.prefix(text.count / 2)
        return text.count % 2 == 0 && text.hasPrefix(half) && text.hasSuffix(half)
            && words.contains(String(half))
    }

    private static let words = Set(
        """
        aaron abc abcd abcde abcdef abgrtyu access action adam adgjmptw adidas admin adminadmin
        administrator adminpassword adrian airborne albert alejandro alex alexander alexandra alexis
        alice allison amanda america american anakin andrea andrew andrey angel angela angelica
        angelina angels animal anthony apache apollo apple apples april archie arsenal arthur asdf
        asdfasdf asdfg asdfgh asdfghj ashley asshole august austin autumn babyboy babygirl babylon
        badboy badger bailey banana bandit barbara barcelona barney baseball basketball batman beach
        bear beatles beautiful beauty beaver bella benjamin berlin bigboy bigdaddy bigdog billy
        birdie bismillah bitch bitches black blackie blackjack blahblah blaster blazer blessed
        blessing blink blizzard blonde blue bluebird bond bonnie booboo boomer boston bot brandon
        brandy braves brazil breanna brian bridge brittany broncos brooklyn bruno brutus bubba
        bubbles buddy bulldog bullet bullshit buster butter butterfly butthead calvin camaro cameron
        canada captain carlos carolina caroline carter casino casper cassie celtic center changeit
        changeme charles charlie charlotte cheese chelsea cherry chester chevy chicago chicken
        chivas chocolate chris christ christian christina christine christopher church cinnamon
        classic claudia clinton cocacola coffee college colorado compaq computer concrete connor
        cookie cookies cooper corvette cowboy cowboys cricket cristina crystal cupcake dakota dallas
        daniel daniela danielle darkness david default dennis denver desert destiny dexter diablo
        diamond dickhead digital dilbert doctor dodgers dogs dolphin dolphins dominic donald donkey
        dragon dragons dreamer dreams driver drowssap ducati eagle eagles eclipse edward einstein
        elephant eleven elizabeth eminem enter entropy eric estrella eternity everton example
        explorer extreme fabian faith falcon family fantasy farmer february fender fernando ferrari
        fireball firebird fireman fishing florida flower flowers fluffy football forever france
        francesco frank franklin freddy freedom friday friend friends friendship froggy fuck fucker
        fucking fuckme fuckoff fuckyou gabriel galaxy gandalf garfield gateway gators gemini genesis
        george germany giants ginger gizmo gloria godzilla golden goldfish golf golfer google gordon
        grace graham green gregory guest guitar gunner hacker hahaha hammer hannah happy hardcore
        harley hawaii heather heaven hello hellohello helpme hendrix henry hockey holiday hollywood
        homer honda honey hottie house hunter hunting iceman iloveu iloveyou india infinity innocent
        instagram internet ireland ironman isabella jackass jackson jaguar jamaica james january
        jasmine jason jasper jayden jeffrey jennifer jeremy jessica jesus jesuschrist johnny
        jonathan jordan joseph joshua july junior justice justin kathleen katie kevin killer king
        kingdom kitten kitty knight kristina ladybug lakers lalala lauren legend leonardo letmein
        liberty lifehack lightning lincoln linkedin liverpool logan logitech london longhorn looking
        lovely loveme lover loveyou lucky machine madison maggie magic manager manchester manuel
        marcus margaret maria marina marine marines mario mark market marlboro marley martin
        maryjane master mastodon matrix matthew maverick maxwell melanie melissa member mercedes
        merlin metallica mexico michael michelle mickey microsoft midnight miguel military miller
        minecraft mirror mirror-bot mirrorbot mobile molly monday money monica monkey monster
        montana moon morgan mother mountain movies mozart muffin murphy music mustang mynoob
        mypassword naked naruto nascar natalie natasha nathan ncc1701 newyork nicholas nicole
        nintendo nirvana nothing november october office oliver olivia orange orlando packers panda
        pantera panther panthers paris parker passion passpass passw passwd password passwords
        passwort patches patrick peaches peanut pepper personal phantom philip phoenix player please
        pokemon poker police pookie popcorn porsche power precious presario prince princess private
        pumpkin purple qazwsx qwer qwerqwer qwert qwerty qwertyu qwertyui rabbit rachel raiders
        rainbow ranger rangers rebecca redskins redsox remember richard robert rocket rocky root
        rootroot rosebud runner russia saints samantha samson samsung samuel sandra saturn savannah
        scarface school scooter scorpio scorpion scotland sebastian secret secrets security senha
        september server service shadow shannon shelby sierra silver simpson skywalker slayer
        slipknot smokey snickers snoopy snowball snowman soccer softball something spanky sparky
        speedy spider spiderman spongebob spring squirt srinivas stalker starcraft stargate startrek
        starwars steelers stella stephanie steven strawberry student stupid success suckit summer
        sunday sunflower sunshine superman superstar support surfer suzuki sweetheart sweetie
        swordfish sydney system tarheels taylor teacher temppass tennis teresa test tester testing
        testtest thomas thunder thursday tiffany tiger tigers tigger timothy tinkerbell titanic
        tomcat toor topgun toyota travis trinity trouble trustno trustnoone tucker turtle tweety
        twitter unknown user username vampire vanessa veronica victor victoria viking viper
        volleyball voodoo warcraft warrior warriors wateva webmaster wednesday welcome westside
        whatever whatsup william willow wilson windows winner winston winter wizard wolf wolfpack
        wolverine wordpass xavier xxxxxx yamaha yankees yellow yourself zaqwsx zeppelin zombie
        zxcvbn
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}
