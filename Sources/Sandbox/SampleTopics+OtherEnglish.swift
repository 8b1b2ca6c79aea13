extension SampleTopics {
    static let otherEnglish: [String: String] = [
        "finance": """
        {asset} {market} ahead of the {weekday} announcement.
        Rebalanced the portfolio: less cash, more {asset}.
        Analysts disagree on {asset}. The chart does not.
        Quarterly earnings beat the forecast and {asset} still {market}.
        Dividend day. {asset} paid for lunch.
        If inflation cools, {asset} looks cheap. If not, hold on.
        Volume is thin and {asset} {market}. Trade carefully.
        My stop loss on {asset} triggered at the open.
        Long term investors should ignore that {asset} {market}.
        Interest rates unchanged, so {asset} {market} after the close.
        """,
        "baseball": """
        Bottom of the {inning}, bases loaded, and he strikes out on {pitch}.
        What a catch at the wall in the {inning} against {team}.
        The bullpen of {team} threw it away in the {inning}.
        Home run on {pitch} in the {inning}. The stadium is still shaking.
        Lineup for {weekday} against {team}: the rookie bats second.
        A walk-off against {team} in the {inning}. I have no voice left.
        His earned run average is down since he learned {pitch}.
        Rain delay in the {inning}, {team} ahead by one. Hot dogs for everyone.
        Batting practice was better than the game. Swung at {pitch} all night.
        The league table after {weekday}: {team} lead, we are fourth.
        """,
        "gadgets": """
        Unboxed {gadget}. The charger is sold separately, of course.
        {gadget} review: {verdict}, mediocre battery.
        Firmware update for {gadget} broke the notifications.
        Preordered {gadget} on {weekday} although mine still works.
        Benchmarks for {gadget} leaked: {verdict}.
        The hinge on {gadget} survived a thousand folds.
        {gadget} after a week: {verdict}.
        Why does {gadget} need an account to switch on?
        Compared three cameras on {gadget}. {verdict}.
        USB ports are back on {gadget}. Miracles happen.
        """,
        "games": """
        Finally beat the boss of {game} after {tries}.
        {game} at two in the morning was a mistake.
        Speedrun of {game}: {tries} and no glitch.
        The new patch for {game} nerfed my favourite build.
        Co-op in {game} on {weekday}? We need a healer.
        I own {game} on four consoles and finished it on none.
        The soundtrack of {game} carries the whole quest.
        {tries} for one rare drop in {game}.
        Ranked matches in {game} are full of snipers tonight.
        Started {game} over on hard mode. {tries} so far.
        """,
        "fashion": """
        {garment} in {colour} is the only trend I accept.
        The autumn lookbook pairs {garment} with {colour} boots.
        Hemmed {garment} on {weekday}; the drape is perfect now.
        Thrifted {garment}, {colour}, original label.
        Runway notes: {garment}, oversized, all {colour}.
        Does {garment} work with a {colour} scarf? Asking for my mirror.
        Sold my heels and bought {garment}. Comfort wins.
        Lipstick in {colour}, {garment}, and out the door.
        The tailor says {garment} wants a shorter sleeve.
        Capsule wardrobe, week two: {garment} four days out of seven.
        """,
        "celebrities": """
        {star} and {costar} were seen leaving the same party.
        The premiere photos of {star} are everywhere on {weekday}.
        {star} announced a world tour with {costar}.
        Everybody is talking about the interview {star} gave.
        {star} says the rumours about {costar} are not true.
        Red carpet verdict: {star} first, {costar} second.
        {star} cried at the award show and so did I.
        The wedding of {star} had three hundred guests.
        {costar} unfollowed {star}. What happened?
        {star} drops a single at midnight, featuring {costar}.
        """,
    ]
}
