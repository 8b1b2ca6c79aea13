extension SampleTopics {
    static let otherJapanese: [String: String] = [
        "finance": """
        {asset}が{market}。発表待ちの展開。
        ポートフォリオを見直して{asset}を増やした。
        {asset}の見通しは専門家でも割れている。
        決算は予想を上回ったのに{asset}は{market}。
        配当が入った。{asset}のおかげで昼は寿司。
        インフレが落ち着けば{asset}は割安に見える。
        出来高が少ないのに{asset}が{market}。
        {asset}の損切りが寄り付きで発動した。
        {asset}が{market}。長期投資なら気にしない。
        金利は据え置き、{asset}は引け後に{market}。
        """,
        "baseball": """
        {inning}、満塁で{pitch}に空振り三振。
        {team}戦、{inning}の守備がすばらしかった。
        またしても{team}に{inning}、中継ぎが打たれた。
        {inning}に{pitch}を打って本塁打。球場が揺れた。
        {team}戦の先発は新人。{pitch}に期待。
        {team}を相手に{inning}、逆転。声が枯れた。
        {pitch}を覚えてから防御率が下がった。
        {team}戦は{inning}で雨天中断、応援団は歌っている。
        打率三割まであと少し、{pitch}に強い。
        順位は{team}の下。{inning}の失点が痛い。
        """,
        "gadgets": """
        {gadget}を開封。充電器は別売り。
        {gadget}のレビュー、{verdict}。電池は普通。
        {gadget}の更新で通知が壊れた。
        まだ使えるのに{gadget}を予約した。
        {gadget}の性能が流出、{verdict}らしい。
        {gadget}を一週間使った。{verdict}。
        {gadget}の初期設定だけで一時間。
        {gadget}のカメラ比較、{verdict}。
        {gadget}の端子が増えたのは正解。
        新型の{gadget}、{verdict}。でも発売日が遠い。
        """,
        "games": """
        {game}のボスを{tries}目で倒した。
        {gamehour}の{game}はやめられない。
        {game}の最速攻略、{tries}目で更新。
        {game}の調整で得意技が弱くなった。
        {game}の協力プレイ、回復役募集。
        {gamehour}、積んでいた{game}をやっと起動した。
        {game}は音楽がいい。周回が苦にならない。
        {game}のレア装備が{tries}目で出た。
        {gamehour}の{game}の対戦相手は強すぎる。
        {game}を高難度でやり直し、もう{tries}目。
        """,
        "fashion": """
        今日は{colour}の{garment}。
        秋の新作、{garment}と{colour}のブーツ。
        {garment}の丈を直したらきれいに揺れる。
        古着屋で{colour}の{garment}を見つけた。
        {garment}に{colour}のマフラーは合うかな。
        {colour}の口紅、{garment}、それで出かける。
        {garment}は袖を短くしたほうが着やすい。
        一週間の着回し、{garment}が四日。
        {colour}の{garment}を試着して鏡の前で悩む。
        展示会は{colour}の{garment}ばかりだった。
        """,
        "celebrities": """
        {star}と{costar}の共演が決まったらしい。
        {star}と{costar}の舞台挨拶の写真が届いた。
        {star}が全国ツアーを発表、{costar}も同行。
        昨夜の{star}のインタビューが話題。
        {star}、{costar}との噂を否定。
        授賞式の{star}の涙に{costar}ももらい泣き。
        {star}の結婚式に三百人、{costar}が司会。
        {costar}が{star}の秘密を暴露。
        {star}の新曲、{costar}も参加。
        {star}のドラマ最終回、視聴率が出た。
        """,
    ]
}
