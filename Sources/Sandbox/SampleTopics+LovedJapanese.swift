extension SampleTopics {
    static let lovedJapanese: [String: String] = [
        "trains": """
        {line}の窓から{view}が見えた。
        今日は{line}で遠回り。{view}がきれいだった。
        {station}のベンチで{line}を待っています。
        {line}の運転士さんが手を振り返してくれた。
        {line}は左側の席がおすすめ。{view}が見えます。
        {station}で{line}の古い車両に会えた。
        {line}が十分遅れたけれど、ホームはのんびりしていた。
        {line}の時刻表が新しくなったので二回読んだ。
        {station}の駅そばを食べてから{line}に乗る。
        踏切で{line}を見送った。{view}も一緒に。
        {line}の切符を日記に貼った。
        {station}から{line}に乗り換えるこの時間が好き。
        """,
        "cats": """
        {cat}が{catplace}で寝ています。
        {cat}が{catdeed}。
        また{cat}が{catplace}に入っている。
        {cat}の肉球が冷たい。{catplace}から出てきた。
        速報、{cat}が{catdeed}。
        {cat}を病院へ。ひげは元気、機嫌は最悪。
        {catplace}に足跡。{cat}は知らん顔。
        {cat}が喉を鳴らして{catplace}から動かない。
        高い猫ベッドを買ったのに{cat}は段ボールで寝る。
        {cat}のしっぽが毛布から出ている。
        朝から{cat}が{catdeed}。猫のいる暮らし。
        """,
        "bread": """
        {bread}が焼けた。台所がいい匂い。
        {flour}で{bread}を焼いてみた。中はもっちり。
        酵母が元気なので今日は{bread}。
        {bakery}の{bread}は開店すぐに売り切れる。
        {bread}の生地をこねていると時間を忘れる。
        {bakery}で{bread}を買って帰る。
        {bread}にバターと塩。それだけでいい。
        二次発酵中の{bread}を見守っています。
        {bread}の皮がぱちぱち鳴った。
        {flour}を半分まぜたら{bread}が香ばしい。
        オーブンの前で{bread}を待つ夜。
        """,
        "coffee": """
        {coffee}を淹れて一日を始める。
        {cafe}で{coffee}。窓の外は雨。
        豆を細かく挽いたら{coffee}が{note}の香りになった。
        {cafe}の店主がいつものカップを覚えていてくれた。
        {cafe}の焙煎の日は通りまで{note}の匂い。
        {coffee}、今日は{note}のような後味。
        お湯を沸かして{coffee}。静かな四分間。
        {cafe}をはしごして{coffee}の研究。
        欠けたカップで飲む{coffee}がいちばんおいしい。
        寒い朝に{coffee}、手があたたかい。
        {coffee}には{note}のお菓子が合う。
        """,
        "cycling": """
        {weather}、{road}を{distance}。
        タイヤを替えたら{weather}の{road}が短く感じる。
        {weather}、{road}でパンク修理。少し得意な気分。
        朝の{road}を自転車で{distance}、おにぎり二つ。
        {road}の砂利で自転車のねじが全部ゆるんだ気がする。
        チェーンを掃除した。明日は{road}を{distance}。
        {weather}の{road}、落ち葉を誰かが掃いてくれていた。
        {weather}、{road}の先の峠を一番軽いギアで登った。
        荷物を積んで{distance}、テントも持った。
        輪行袋をかついで{road}まで。あとは{distance}。
        サドルがきしむまま{distance}走ってしまった。
        """,
    ]
}
