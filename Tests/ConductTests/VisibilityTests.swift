import Conduct
import Posts
import Testing

@Suite struct VisibilityTests {
    @Test(arguments: [
        (Visibility.public, Visibility.unlisted), (.unlisted, .unlisted), (.private, .private),
        (.direct, .direct),
    ])
    func whatFollowsIsNeverWiderAndNeverForEverybody(original: Visibility, following: Visibility) {
        #expect(original.ofRepetition == following)
    }
}
