extension SampleOwn {
    static let japanese = PhraseBook(
        sentences: japaneseSentences, words: SampleWords.japanese.merging(japaneseWords) { _, own in own })

    private static let japaneseSentences: [String: String] = [
        "morning": """
        おはようございます。{place}は{sky}。
        目覚ましより先に起きた。{sky}、{coffee}を淹れる。
        今朝は{sky}。むぎは{mugi}。
        朝ごはんは{bread}と{coffee}。{coda}
        {place}まで朝の散歩。{coda}
        窓を開けたら{sound}が聞こえた。
        一日の最初の一文は、いつも{task}。
        おはよう。起きたらむぎが{mugi}。
        {task}の前に{coffee}。逆にしたら失敗する。
        {sound}で目が覚めて、{coffee}で動き出す朝。
        鉢植えに水をやって、雀を数えて、{sky}。
        """,
        "lunch": """
        お昼は{lunch}。{coda}
        {place}のベンチで{lunch}。
        {task}が気になって{lunch}を急いで食べてしまった。
        {lunchplace}の今日の定食は{lunch}だった。
        {task}をあと半ページ、そうしたら{lunch}。
        正午までに終わったら{lunch}と決めて{task}。
        {lunch}を食べながら{sound}を聞く。
        {lunchplace}に並んだけれど、{lunch}は待つ価値あり。
        十二時、{sky}、{lunch}。
        {lunch}にするか昼寝にするか、それが問題。
        """,
        "work": """
        今日は{task}の翻訳。「{word}」で止まっている。
        「{word}」にちょうどいい日本語がない。四つ試した。
        {task}、校正まで終わって送り出した。{coda}
        「{word}」をもっと短く、と言われたけれど短くならない。
        {task}の訳文を猫に読んで聞かせている。
        {task}の締切が早まった。お湯を沸かそう。
        皿を洗っていたら「{word}」の訳を思いついた。
        机の辞書は六冊。{task}には全部いる。
        {task}の一段落に三時間。{coda}
        いい訳文は、訳したように見えない。{task}もそうしたい。
        「{word}」が一行になった。{coda}
        請求書を出して、床を掃いて、{task}に取りかかる。
        """,
        "evening": """
        {place}を通って帰る。うしろで{sound}。
        誰も見ていないので夕飯は{lunch}。
        {task}を閉じて、手帳を閉じて、{sky}。
        {place}の夕方の光。{coda}
        むぎが{mugi}ので、今日の仕事はおしまい。
        洗い物が終わって、外は{sound}。
        切手と石けんと{bread}を買って帰る。
        夕飯のあとに手紙を二通書いた。{coda}
        {place}の近くの銭湯、今日はゆず湯だった。
        袖を繕いながら{sound}を聞いている。
        """,
        "night": """
        あと一ページ、と{task}を前にして夜中。
        おやすみなさい。むぎは{mugi}。
        眠れないので「{word}」のことを考えている。
        窓を少し開けて{sound}を聞く夜。
        明日は{task}と{bread}、できれば昼寝。
        遅い時間の{coffee}は失敗だった。{coda}
        羊のかわりに{line}の駅を数えている。
        むぎが{mugi}。動けないままおやすみ。
        """,
        "kyoto": """
        {place}で静かな一時間。{coda}
        {place}は観光の人、少し下れば鷺。
        {place}の近くの店は、まだ筆で領収書を書く。
        {sound}を聞きたくて{place}まわりで帰る。
        {place}の川べりで、また誰かがトランペットを吹いている。
        今日の{place}は濡れた杉の匂い。
        {place}の好きなベンチが塗り直されていた。{coda}
        {place}で会ったおばあさんに道を聞かれ、一緒に歩いた。
        {place}の空は{sky}、そして{sound}。
        """,
        "trains": """
        {view}を見るために{line}を端から端まで。
        {line}の曲がり角は、もう音でわかる。
        {task}を持って{line}に乗る。世界一の仕事場。
        {line}の窓に{view}。{coda}
        {station}で{line}を待ちながら手帳を書く。
        祖父は時刻表、私は{line}の切符を集めている。
        {line}の運転士さんの指差しを、こっそり真似する。
        {station}でわざと{line}を一本見送った。
        曲がり角に{view}。{line}の誰も顔を上げない。
        いつか本を書くなら、{line}の場面から始める。
        """,
        "cats": """
        むぎが{mugi}。私は動けない。
        {task}の最中にむぎが{catdeed}。
        むぎが{catplace}にいた。遅いという顔をされた。
        むぎの今日の予定、{catplace}、ごはん、{catplace}。
        むぎに「{word}」と言ったら、あくびされた。
        むぎが{catdeed}。もちろん私が謝った。
        {place}で{cat}に会って、会釈した。
        猫は小さな大家さん。むぎも{catplace}でうなずく。
        {task}の原稿にまた毛がついている。
        むぎは一章ぶん、{catplace}から出てこなかった。
        """,
        "bread": """
        {flour}で{bread}を焼いた。{coda}
        うちの酵母の名前はゆず。好物は{flour}。
        {bread}はご近所へ、端っこは私へ。
        {bread}の片側を焦がした。素朴ということにする。
        「{word}」を考えながら{bread}をこねた。どちらもふくらんだ。
        {place}のパン屋さんに{flour}を分けてもらった。
        オーブンに{bread}、むぎは{mugi}、言うことなし。
        生地は待ってくれる。{task}の締切は待たない。
        {bread}に三度目の挑戦。{coda}
        辞書にパンくず。犯人は{bread}。
        """,
        "coffee": """
        {cafe}で{coffee}。{task}を机いっぱいに広げる。
        今日の{coffee}は{note}の味。{coda}
        {cafe}の主人に「{word}」は訳せたかと聞かれた。
        {coffee}のために豆を四十回しで挽く。
        {cafe}は今日もピアノのレコード。
        {place}で買ったカップに{coffee}。ひびが川の形。
        {coffee}に{note}を感じて、一時間だまっていた。
        {coffee}と{sound}。今日の予定はそれだけ。
        {cafe}は休みだった。貼り紙を読んで帰る。
        二杯目の{coffee}、三行目の訳文。
        """,
        "cycling": """
        仕事の前に{road}を{distance}。{coda}
        {road}のことで、自転車と私の意見が合わない。
        {road}で止まって{view}を眺める。これも練習。
        かごに{lunch}を入れて{road}へ。
        {place}の近くでパンク。自転車屋のおじさんが蜜柑をくれた。
        急がず{distance}、ずっと{sound}。
        {road}を{place}まで走って、帰りは電車。
        袖に油、空は{sky}、あと{distance}。
        {road}で葱を積んだおばあさんに抜かれた。{coda}
        ゆっくりも速さのうち。{road}を{distance}。
        """,
    ]

    private static let japaneseWords: [String: String] = [
        "place": """
        出町柳
        鴨川デルタ
        一乗寺
        西陣
        伏見
        嵐山
        吉田山
        下鴨
        鞍馬
        疏水べり
        """,
        "sky": """
        薄曇り
        山に低い雲
        ほうじ茶色の空
        きりっと晴れ
        小雨まじり
        雨上がりの光
        かすんだ太陽
        電線に風
        """,
        "mugi": """
        校正刷りの上で寝ている
        からすを見張っている
        毛布の下にいる
        私の椅子にいる
        ごはん皿の前で待っている
        パンのように丸まっている
        ほうきから隠れている
        """,
        "task": """
        美術館の案内
        料理の本
        鉄道の冊子
        賃貸の契約書
        絵本
        映画の字幕
        日本酒のラベル
        炊飯器の説明書
        旅の随筆
        お寺の栞
        """,
        "word": """
        cozy
        serendipity
        awkward
        privacy
        crisp
        fair enough
        wanderlust
        take care
        bittersweet
        """,
        "sound": """
        蛙の声
        豆腐屋のらっぱ
        遠くの踏切
        自転車置き場の雨
        お寺の鐘
        吹奏楽の練習
        つばめ
        隣のラジオ
        """,
        "lunch": """
        きつねうどん
        玉子サンド
        カレーライス
        梅おにぎり
        ざるそば
        味噌汁とごはん
        コロッケパン
        親子丼
        昨日の煮込み
        """,
        "lunchplace": """
        食堂
        うどん屋
        角の惣菜屋
        市場の屋台
        大学の学食
        豆腐屋
        """,
        "coda": """
        小さな勝利。
        文句なし。
        これでよし。
        今日はここまで。
        思ったより長かった。
        こういう日が増えますように。
        ひとりで笑ってしまった。
        書いておきたいこと。
        むぎは興味なし。
        """,
    ]
}
