/// What the human answers to friends.
///
/// Each answer also makes sense after another message, since the bot gives it
/// again to a later mention.
enum SampleReplies {
    static func book(_ language: SampleLanguage) -> PhraseBook {
        switch language {
        case .japanese: japanese
        case .english: english
        }
    }

    private static let japanese = PhraseBook(
        sentences: [
            "reply": """
            {thanks}{wish}
            {thanks}{mugi}
            {feeling}{wish}
            {feeling}{mugi}
            {feeling}{thanks}
            {mugi}{wish}
            {thanks}こちらは{weather}です。
            {feeling}こちらは{weather}、{wish}
            """,
            "longReply": """
            {feeling}{thanks}{wish}
            {thanks}{mugi}{wish}
            {feeling}{mugi}{wish}
            {feeling}{thanks}{mugi}
            {thanks}こちらは{weather}です。{wish}
            {feeling}{thanks}こちらは{weather}です。{wish}
            """,
        ],
        words: [
            "thanks": """
            ありがとう！
            うれしい、ありがとう。
            教えてくれてありがとう。
            いつもありがとうね。
            声をかけてくれてうれしい。
            ありがとう、元気が出た。
            """,
            "feeling": """
            わかる、それ。
            いいなあ。
            なるほど、たしかに。
            それは最高だね。
            笑ってしまった。
            そうだったらいいな。
            すごい、さすが。
            私もそう思う。
            """,
            "wish": """
            今度いっしょに電車で出かけよう。
            今度パンを焼いて持っていくね。
            また珈琲でも飲もう。
            鴨川を走るときは声をかけて。
            週末に会えたらうれしい。
            次は出町柳で待ち合わせよう。
            また話そうね。
            続きはお茶をしながら。
            """,
            "mugi": """
            むぎもよろしくと言っています。
            むぎは隣で寝ています。
            むぎがあくびで返事しました。
            むぎを膝にのせて読みました。
            むぎは相変わらず食いしん坊です。
            """,
            "weather": """
            いい天気
            小雨
            少し寒い朝
            気持ちのいい風
            静かな夜
            のんびりした一日
            """,
        ])

    private static let english = PhraseBook(
        sentences: [
            "reply": """
            {thanks} {wish}
            {thanks} {mugi}
            {feeling} {wish}
            {feeling} {mugi}
            {feeling} {thanks}
            {mugi} {wish}
            {thanks} It is {weather} here.
            {feeling} It is {weather} here. {wish}
            """,
            "longReply": """
            {feeling} {thanks} {wish}
            {thanks} {mugi} {wish}
            {feeling} {mugi} {wish}
            {feeling} {thanks} {mugi}
            {thanks} It is {weather} here. {wish}
            {feeling} {thanks} It is {weather} here. {wish}
            """,
        ],
        words: [
            "thanks": """
            Thank you!
            Thanks, that made my day.
            Thanks for telling me.
            Kind of you, thank you.
            Thank you for thinking of me.
            Thanks, I needed that.
            """,
            "feeling": """
            I know the feeling.
            Oh, lovely.
            Good point.
            That sounds perfect.
            You made me laugh.
            I hope so too.
            Well done, you.
            I could not agree more.
            """,
            "wish": """
            Let's take a slow train somewhere soon.
            I will bring bread next time.
            Coffee soon?
            Call me when you ride along the river.
            It would be nice to meet at the weekend.
            We should sit by the delta again.
            Let's talk more soon.
            Tell me the rest over tea.
            """,
            "mugi": """
            Mugi says hello.
            Mugi is asleep next to me.
            Mugi answered with a yawn.
            I read this with Mugi on my knees.
            Mugi is as greedy as ever.
            """,
            "weather": """
            bright and cold
            raining a little
            a soft grey morning
            windy in a nice way
            a very quiet evening
            one of those slow days
            """,
        ])
}
