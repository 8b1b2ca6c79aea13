/// The words that fill the slots of all sentences.
enum SampleWords {
    static let english: [String: String] = [
        "line": """
        the slow local
        the night train
        the first tram
        the branch line
        the coast railway
        the mountain railway
        the last local
        the two-car diesel
        the loop line
        the Sagano line
        """,
        "view": """
        fog on the river
        a heron in a rice field
        snow on the far hills
        a freight train in the siding
        laundry on every balcony
        the sea between two houses
        children waving at a crossing
        a hillside of persimmon trees
        the sun behind the viaduct
        a fox beside the track
        """,
        "drink": """
        a thermos of tea
        hot lemon
        a can of cocoa
        barley tea
        ginger ale
        warm milk
        """,
        "weekday": """
        Monday
        Tuesday
        Wednesday
        Thursday
        Friday
        Saturday
        Sunday
        """,
        "cat": """
        the cat
        the kitten
        our tabby
        the ginger cat
        the old grey cat
        the black cat next door
        the rescue cat
        the tortoiseshell
        """,
        "catplace": """
        on the keyboard
        in the laundry basket
        inside my coat
        on top of the fridge
        in the sink
        under the kotatsu
        behind the curtain
        in a shoe box
        on the warm radio
        between two dictionaries
        """,
        "catdeed": """
        knocked over the fern
        stole a piece of salmon
        purred through a whole phone call
        chased a moth for an hour
        learned to open the drawer
        sneezed and ran away from it
        meowed at the rain
        unrolled every meter of string
        brought me a leaf
        climbed the curtain
        """,
        "bread": """
        a sourdough loaf
        rye bread
        a tray of milk buns
        cinnamon rolls
        focaccia
        a baguette
        raisin bread
        an oat loaf
        walnut bread
        melon bread
        a batch of bagels
        """,
        "flour": """
        spelt
        buckwheat
        whole wheat
        stone-ground rye
        rice flour
        toasted oats
        """,
        "coffee": """
        a pour-over
        a flat white
        an iced coffee
        a double espresso
        a moka pot
        a dark roast
        a cup of drip coffee
        a cappuccino
        an Ethiopian light roast
        """,
        "cafe": """
        the corner café
        the café under the tracks
        the kissaten by the temple
        the roastery
        the place with the blue door
        the bookshop café
        the stand at the station
        """,
        "note": """
        plum
        toasted almond
        cocoa
        orange peel
        brown sugar
        jasmine
        blackcurrant
        honey
        """,
        "distance": """
        twelve kilometres
        twenty kilometres
        thirty kilometres
        forty kilometres
        fifty kilometres
        sixty kilometres
        eighty kilometres
        """,
        "road": """
        the river path
        the old tea road
        the canal towpath
        the lake shore
        the forest road
        the farm lanes
        the dyke
        the valley road
        """,
        "weather": """
        in the drizzle
        against the wind
        under low clouds
        before sunrise
        after the rain
        in the last light
        """,
        "asset": """
        bonds
        the yen
        index funds
        bank shares
        gold
        crude oil
        small caps
        treasuries
        chip stocks
        real estate funds
        """,
        "market": """
        fell two percent
        rallied
        slipped
        hit a record high
        went sideways
        jumped
        dropped below support
        """,
        "inning": """
        first inning
        third inning
        fifth inning
        seventh inning
        eighth inning
        ninth inning
        tenth inning
        """,
        "team": """
        the Herons
        the Foxes
        the Anchors
        the Comets
        the Lanterns
        the Rockhoppers
        """,
        "pitch": """
        a slider
        a curveball
        a fastball
        a changeup
        a forkball
        a sinker
        """,
        "gadget": """
        the folding phone
        the new smartwatch
        the noise-cancelling headset
        the mini laptop
        the robot vacuum
        the e-ink tablet
        the action camera
        the mechanical keyboard
        """,
        "verdict": """
        great screen
        fast chip
        clumsy software
        too expensive
        surprisingly light
        best in its class
        """,
        "game": """
        the dungeon game
        the new shooter
        the farming sim
        the kart racer
        the space RPG
        the puzzle platformer
        the card battler
        """,
        "tries": """
        nine attempts
        twenty attempts
        forty attempts
        a hundred attempts
        three hours
        six hours
        """,
        "garment": """
        a wool coat
        a linen jacket
        a pleated skirt
        wide trousers
        a denim dress
        a silk blouse
        a knit vest
        a trench coat
        """,
        "colour": """
        camel
        ivory
        burgundy
        sage
        cobalt
        charcoal
        mustard
        """,
        "star": """
        Lena Marlow
        Rio Castell
        the lead singer
        the drama's heroine
        Vera Lindqvist
        Jun Arata
        the famous twins
        """,
        "costar": """
        the director
        the drummer
        Theo Bright
        Maya Sorel
        the stunt double
        the talk show host
        """,
    ]
}
