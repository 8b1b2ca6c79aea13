extension SampleTopics {
    static let lovedEnglish: [String: String] = [
        "trains": """
        Took {line} today and saw {view} from the window.
        {view} from {line}: worth the early start.
        Platform bench, timetable, {drink}. Waiting for {line}.
        The conductor on {line} waved back. Day made.
        If you sit on the left of {line} you get {view}.
        {line} was ten minutes late and nobody on the platform minded.
        Old carriages on {line} again, with the good springy seats.
        There is no better reading room than {line} on a {weekday}.
        New timetable for {line}. I have read it twice, like a novel.
        Sketched the railway bridge while {line} crossed it.
        My ticket for {line} still has the punched hole, so it goes in the diary.
        Changed trains at the junction just to ride {line} once more.
        """,
        "cats": """
        {cat} spent the morning {catplace}.
        Found {cat} {catplace} again.
        {cat} {catdeed} and looked pleased with the result.
        Breaking news: {cat} {catdeed}.
        I was told {cat} is shy. {cat} is asleep {catplace}.
        {cat} has opinions about the new cushion. Mostly claws.
        Vet visit done. {cat} forgives nobody, but the whiskers are healthy.
        Paw prints on the windowsill. {cat} denies everything.
        {cat} purrs like a small engine {catplace}.
        Bought an expensive bed; {cat} sleeps in the box, tail over nose.
        A {weekday} evening, a blanket and {cat} on my knees.
        """,
        "bread": """
        {bread} out of the oven, and the whole street knows it.
        Tried {bread} with {flour}. The crumb is better than I deserve.
        My starter doubled overnight, so {bread} it is.
        The crust on {bread} today sang for a full minute.
        Kneading {bread} by hand on a {weekday} beats any meeting.
        A bakery near {cafe} sells {bread} from seven. Go early.
        {bread}, butter, salt. That is the whole recipe for a {weekday}.
        Second rise for {bread}. I am not allowed to open the door.
        Scored {bread} a little too deep and it looks like a map.
        Swapped half the dough to {flour} and the loaf came out nutty.
        Someone at the market traded me {bread} for lemons.
        """,
        "coffee": """
        {coffee} first, words later.
        {coffee} at {cafe}, and rain on the awning.
        Ground the beans finer for {coffee} and it finally tastes of {note}.
        The barista at {cafe} remembered my cup.
        {cafe} roasts on {weekday}s. You can smell {note} from the bridge.
        Dialled in {coffee}: {note}, with a long finish.
        The kettle, the filter, {coffee}. Four quiet minutes.
        Third café of the day, purely for research into {coffee}.
        {coffee} in a chipped mug tastes of {note} and victory.
        Cold morning, warm hands, {coffee}.
        I carried a hand grinder up a hill for {coffee}. No regrets.
        """,
        "cycling": """
        {distance} along {road} before breakfast, headwind both ways.
        New tyres, same hills. {road} felt shorter {weather}.
        Fixed a puncture on {road} {weather} and felt like a hero.
        {distance} on {road}, two rice balls, one heron.
        The gravel on {road} rattled every bolt of my bicycle for {distance}.
        Chain cleaned, bottle filled, {road} on {weekday} at six.
        Somebody has swept the leaves off {road}. Thank you, whoever you are.
        Climbed the pass above {road} in the smallest gear and sang on the way down.
        Panniers packed: {distance} to go, tent and all.
        Saw a family on a tandem on {road} {weather}. Everybody was laughing.
        My saddle squeaks exactly once every turn. {distance} of that {weather}.
        """,
    ]
}
