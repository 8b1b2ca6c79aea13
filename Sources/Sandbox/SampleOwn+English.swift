extension SampleOwn {
    static let english = PhraseBook(
        sentences: englishSentences, words: SampleWords.english.merging(englishWords) { _, own in own })

    private static let englishSentences: [String: String] = [
        "morning": """
        Good morning from {place}. {sky}.
        Up before the alarm. {sky}, and {coffee} is on.
        {sky} this morning. Mugi is {mugi}.
        Breakfast: {bread} and {coffee}. {coda}
        Morning walk to {place} and back. {coda}
        Opened the window and heard {sound}. {coda}
        The first sentence of the day is always about {task}.
        Good morning. Mugi was {mugi} when I woke up.
        {coffee} before {task}, never the other way round.
        Watered the herbs, counted the sparrows, {sky}.
        {sound} at six, {coffee} at seven, {task} at nine.
        """,
        "lunch": """
        Lunch: {lunch}. {coda}
        {lunch} on a bench near {place}.
        Ate {lunch} too fast because of {task}.
        The {lunchplace} had {lunch} today. {coda}
        Half a page of {task} left, then {lunch}.
        I promised myself {lunch} if I finished {task} by noon.
        {lunch} and {sound}. A fair lunch break.
        Queue at the {lunchplace}, but {lunch} was worth it.
        Twelve o'clock, {sky}, {lunch}.
        Today's lunch debate with myself: {lunch} or a nap.
        """,
        "work": """
        Translating {task} today and stuck on "{word}".
        There is no good English for "{word}". I tried four.
        {task} is done, proofread and out of the door. {coda}
        The client asked whether "{word}" could be shorter. It could not.
        Reading {task} aloud to the cat to test the rhythm.
        Deadline for {task} moved up. Putting the kettle on.
        Found the right word for "{word}" while washing dishes.
        Dictionary count on my desk: six. Needed for {task}: all of them.
        Three hours on one paragraph of {task}. {coda}
        A good translation of {task} should sound like nobody translated it.
        Today "{word}" became a whole clause. {coda}
        Sent an invoice, swept the floor, started {task}.
        """,
        "evening": """
        Walked home past {place} with {sound} behind me.
        Dinner is {lunch} because nobody is looking.
        {task} closed, notebook closed, {sky}.
        Evening light over {place}. {coda}
        Mugi is {mugi}, so the evening has officially begun.
        Radio on, dishes done, {sound} outside.
        Bought stamps, soap and {bread} on the way home.
        Wrote two letters after dinner. {coda}
        The bathhouse near {place} had lavender in the water tonight.
        Mending a sleeve and listening to {sound}.
        """,
        "night": """
        One more page, said the translator of {task}, at midnight.
        Good night from {place}. Mugi is {mugi}.
        Cannot sleep; thinking about "{word}".
        {sound} in the dark, window open a hand's width.
        Tomorrow: {task}, {bread}, perhaps a nap.
        Lights out. Mugi is {mugi} and will not move.
        {coffee} this late was a mistake. {coda}
        Counting stations of {line} instead of sheep.
        """,
        "kyoto": """
        A quiet hour at {place}. {coda}
        Tourists at {place}, herons a bit further down.
        The shop near {place} still writes receipts with a brush.
        Took the long way by {place} to hear {sound}.
        Somebody plays the trumpet by the river near {place} again.
        {place} smells of wet cedar today.
        My favourite bench at {place} has been painted. {coda}
        Old lady near {place} taught me how to say "{word}" properly.
        {sky} over {place}, and {sound}.
        """,
        "trains": """
        Rode {line} to the end and back, just to look at {view}.
        I know every bend of {line} by ear now.
        Took {task} along on {line}. Best office in the world.
        {view}, seen from {line}. {coda}
        Waited for {line} with {drink}. {coda}
        My grandfather kept timetables. I keep the tickets of {line}.
        The driver of {line} pointed at every signal. I point along.
        Missed {line} on purpose, to see it leave.
        There was {view} at the bend, and nobody on {line} looked up.
        If I ever write a book it starts on {line} on a {weekday}.
        """,
        "cats": """
        Mugi is {mugi}. I am not allowed to move.
        Mugi {catdeed} while I was busy with {task}.
        Found Mugi {catplace}. She looked at me as if I were late.
        Mugi's schedule today: {catplace}, food, {catplace}.
        I said "{word}" to Mugi. She yawned.
        Mugi {catdeed}. I apologised, of course.
        Met {cat} near {place}; we nodded to each other.
        A cat is a small landlord. Mugi, {catplace}, agrees.
        Fur on {task} again. The client will call it texture.
        Mugi sat {catplace} for the length of a whole chapter.
        """,
        "bread": """
        Baked {bread} with {flour}. {coda}
        My starter is called Yuzu and it wants {flour}.
        {bread} for the neighbours, the ends for me.
        Burnt one side of {bread}. We call it rustic.
        Kneaded {bread} while thinking about "{word}". Both rose.
        The baker near {place} gave me a bag of {flour}.
        {bread} in the oven, Mugi is {mugi}, nothing to add.
        Dough is patient, unlike the client of {task}.
        Tried {bread} for the third time. {coda}
        Crumbs in the dictionary. It was {bread}.
        """,
        "coffee": """
        {coffee} at {cafe}, with {task} spread over two tables.
        {coffee}: {note} today. {coda}
        The owner of {cafe} asked how "{word}" is going.
        Ground beans for {coffee} by hand, forty turns.
        {cafe} plays piano records on {weekday}s.
        My cup from {place} has a crack shaped like a river. {coffee} stays in.
        I tasted {note} in {coffee} and told nobody for an hour.
        {coffee} and {sound}. That is the plan.
        {cafe} was closed, so I read the sign and went home.
        Second cup: {coffee}. Third sentence.
        """,
        "cycling": """
        {distance} on {road} before work. {coda}
        My bicycle and I disagree about {road}.
        Stopped on {road} to watch {view}. That counts as training.
        {road} with {drink} and {lunch} in the basket.
        Flat tyre near {place}. The bicycle shop uncle fixed it and gave me a mandarin.
        {distance}, no hurry, {sound} all the way.
        Rode {road} to {place} and came back by train.
        Oil on my sleeve, {sky}, {distance} to go.
        Overtaken on {road} by a grandmother with leeks. {coda}
        Slow is a speed too. {distance} on {road}.
        """,
    ]

    private static let englishWords: [String: String] = [
        "place": """
        Demachiyanagi
        the Kamo delta
        Ichijoji
        Nishijin
        Fushimi
        Arashiyama
        Yoshida hill
        Shimogamo
        Kurama
        the canal
        """,
        "sky": """
        pale sky, no wind
        low clouds on the hills
        a sky like weak tea
        clear and cold
        a thin drizzle
        bright after the rain
        a hazy sun
        wind in the wires
        """,
        "mugi": """
        asleep on the proofs
        watching the crows
        under the blanket
        on my chair
        waiting by the bowl
        folded like a loaf
        hiding from the broom
        """,
        "task": """
        a museum guide
        a cookbook
        a railway brochure
        a lease contract
        a picture book
        film subtitles
        a sake label
        a rice cooker manual
        a travel essay
        a temple leaflet
        """,
        "word": """
        natsukashii
        mendokusai
        otsukaresama
        komorebi
        yoroshiku
        mottainai
        shoganai
        itadakimasu
        betsubara
        """,
        "sound": """
        frogs
        the tofu seller's horn
        a distant crossing bell
        rain on the bicycle shed
        temple bells
        a brass band rehearsing
        swallows
        the neighbour's radio
        """,
        "lunch": """
        udon with fried tofu
        an egg sandwich
        curry rice
        plum onigiri
        cold soba
        miso soup and rice
        a croquette roll
        oyakodon
        yesterday's stew
        """,
        "lunchplace": """
        canteen
        noodle shop
        corner deli
        market stall
        university cafeteria
        tofu shop
        """,
        "coda": """
        Small victory.
        No complaints.
        I will take it.
        That is enough for today.
        It felt longer than it was.
        More of this, please.
        Nobody saw me smile.
        Worth writing down.
        Mugi was not impressed.
        """,
    ]
}
