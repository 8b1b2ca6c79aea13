/// Changes of a target's seeds, as a fuzzer makes them.
struct Mutation {
    private let seeds: [[UInt8]]
    private let words: [[UInt8]]

    init(_ target: FuzzTarget) {
        seeds = target.seeds
        words = target.words.map { Array($0.utf8) }
    }

    /// A seed with one to eight changes.
    func changed(using generator: inout SeededGenerator) -> [UInt8] {
        var input = seeds.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...8, using: &generator) { change(&input, using: &generator) }
        return input
    }

    private func change(_ input: inout [UInt8], using generator: inout SeededGenerator) {
        let place = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, place + Int.random(in: 1...24, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0 where place < input.count:
            input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: input.insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
        case 2: input.removeSubrange(place..<end)
        case 3: input.insert(contentsOf: input[place..<end], at: place)
        case 4: input.insert(contentsOf: words.randomElement(using: &generator) ?? [], at: place)
        case 5: input.removeSubrange(place...)
        default:
            input.insert(
                contentsOf: seeds.randomElement(using: &generator)?.suffix(40) ?? [], at: place)
        }
    }
}

/// Numbers that are the same in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: String) {
        state = seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }
}
