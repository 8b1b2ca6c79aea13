/// What people write to somebody they mention.
enum SampleMentions {
    static func book(_ language: SampleLanguage) -> PhraseBook {
        switch language {
        case .japanese: japanese
        case .english: english
        }
    }

    private static let japanese = PhraseBook(
        sentences: [
            "mention": """
            {opening}、{question}
            {opening}。{news}
            {news}{question}
            {news}
            {question}
            """
        ],
        words: [
            "opening": """
            おはよう
            こんばんは
            ひさしぶり
            元気にしてる？
            さっきの投稿、読んだよ
            この前はありがとう
            ちょっと聞いて
            お疲れさま
            """,
            "question": """
            週末は何してる？
            最近おいしいもの食べた？
            今度いっしょに出かけない？
            おすすめの店があったら教えて。
            今日の京都は寒い？
            むぎちゃんは元気？
            次の休みはいつ？
            そっちは雨どう？
            """,
            "news": """
            新しい喫茶店を見つけたよ。
            今日は一本早い電車に乗れた。
            焼きたてのパンを買いすぎた。
            うちの猫が初めて膝に乗ってくれた。
            川沿いを二十キロ走ってきた。
            仕事がやっと終わったところ。
            朝から洗濯物が飛んでいった。
            来月そっちへ行くことになった。
            """,
        ])

    private static let english = PhraseBook(
        sentences: [
            "mention": """
            {opening} {question}
            {opening} {news}
            {news} {question}
            {news}
            {question}
            """
        ],
        words: [
            "opening": """
            Morning!
            Hello from a rainy platform.
            Long time no see.
            Loved your last post.
            Thanks again for last week.
            Guess what.
            Hope the deadline went well.
            Evening!
            """,
            "question": """
            What are you doing this weekend?
            Baked anything good lately?
            How is Mugi?
            Is it cold in Kyoto today?
            Any café tips near the river?
            When are you next in town?
            Are you still riding before work?
            What should I read on the train?
            """,
            "news": """
            I found a new coffee place.
            I finally caught the early train.
            I bought far too much bread.
            The cat sat on my lap for the first time.
            I rode thirty kilometres against the wind.
            I finished work before dark for once.
            My umbrella did not survive the morning.
            I am visiting next month.
            """,
        ])
}
