"""What the linker knows of languages whose scripts have no spaces between words, and of Korean.

Everything here is a rule: which characters or words are grammar, how a message opens, and how a
question ends. A language without an entry is compared by all its pairs of characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tape.scripts import compiled

PLAIN, GREETING, THANKS, YES_NO, GOING_ON, ASKING, CALLING = range(7)
"""The kinds of opening that a text may have."""


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of one language, for texts in lower case and NFKC.

    A pattern is compiled when a text in the language is first seen: most chats never see one.

    letters  a pattern of a letter that no earlier language of `LANGUAGES` has
    grammar  a pattern of what separates content words
    piece    a pattern of what is left between, and is divided into units
    unit     a pattern of what counts as one character
    least    minimum characters of what is compared, if there are more
    alone    a pattern of a unit that is a word by itself
    pace     number of characters in an average word; 0 if words are divided by spaces
    openers  beginnings of messages by their kind, the longest first
    asking   words that make a text a question wherever they stand
    ending   a pattern of how a question without a question mark ends
    refers   a pattern of words that refer to what was said, or to who is there
    enough   minimum characters of content in a text that stands alone, if nothing in it refers;
             a word of a script with spaces counts as two
    """

    letters: str
    grammar: str
    piece: str
    unit: str
    least: int
    alone: str
    pace: float
    openers: tuple[tuple[str, int], ...]
    asking: tuple[str, ...]
    ending: str
    refers: str
    enough: int

    def units(self, run: str) -> Iterator[tuple[str, list[str]]]:
        """Give the pieces of content in a run of characters, each with its units."""
        for piece in compiled(self.piece).findall(compiled(self.grammar).sub(" ", run)):
            yield piece, compiled(self.unit).findall(piece)

    def is_word(self, piece: str) -> bool:
        """Return whether a piece of a single unit is a word by itself."""
        return compiled(self.alone).fullmatch(piece) is not None

    def asks(self, text: str) -> bool:
        """Return whether a text ends as a question does, without a question mark."""
        return compiled(self.ending).search(text) is not None

    def is_referring(self, text: str) -> bool:
        """Return whether a text has a word that refers to what was said, or to who is there."""
        return compiled(self.refers).search(text) is not None


def language_of(text: str) -> Language | None:
    """Return the language of a text, or None if there are no rules for its letters."""
    return next((one for one in LANGUAGES if compiled(one.letters).search(text)), None)


def _words(words: str) -> tuple[str, ...]:
    # Texts are normalised before they are compared.
    return tuple(unicodedata.normalize("NFKC", words).split())


def _any_of(words: str) -> str:
    return "|".join(sorted(_words(words), key=lambda word: (-len(word), word)))


def _openers(kinds: Mapping[int, str]) -> tuple[tuple[str, int], ...]:
    found = [(word, kind) for kind, words in kinds.items() for word in _words(words)]
    return tuple(sorted(found, key=lambda pair: (-len(pair[0]), pair[0])))


_CHINESE: Final = Language(
    letters=r"\p{Han}",
    grammar=(
        "多少|多久|多大|多长|多远|时候|[一二两三四五六七八九十百几每半\\d]+[天次个年月周点块分秒岁种]"
        "|[的了是我你您他她它们咱这那哪不没别在有和跟与就都也还又再吗呢吧啊呀哦嗯哈嘛啦哎喂很"
        "太真要会能可以把被给让对到去来上下里外一两几个么什怎为因所但而且或如果想说看做点得地"
        "着过之其于从向才只最更谁啥]"
    ),
    piece=r"\S+",
    unit=r"\X",
    least=2,
    alone=r"\p{Han}",
    pace=1.6,
    openers=_openers(
        MappingProxyType(
            {
                GREETING: "你好 您好 大家好 各位好 早上好 下午好 晚上好 早安 晚安 嗨 哈喽 喂",
                THANKS: "谢谢 多谢 感谢 谢了 谢啦 辛苦了",
                YES_NO: """
                    好的 好吧 好啊 好 嗯 对 是的 是啊 不是 不用 不行 不 没有 没事 没 行 可以
                    当然 太好了 哈哈 哦 噢 啊 哎 真的 确实 的确 收到 明白 知道了 原来 没错 算了
                    呵呵
                """,
                GOING_ON: """
                    那么 那 但是 但 不过 而且 所以 因为 然后 结果 就 还有 还 或者 也 这个 那个
                    这样 这 我也 我还 你 他 她 它 其实 应该 可能 试试 反正 再说 要不
                """,
                ASKING: """
                    怎么 什么 为什么 为啥 谁 哪里 哪儿 哪个 哪 几 多少 多大 多久 是不是 有没有
                    能不能 可不可以 会不会 要不要 请问 问一下 咋
                """,
                CALLING: "有人 有谁 大家 各位 哪位 谁能 谁知道 求助 请教",
            }
        )
    ),
    asking=_words("吗 怎么 什么 为啥 多少 几点 哪里 哪儿 谁 会不会 有没有 是不是 能不能 要不要"),
    ending=r"(?:[吗呢么]|是不是|好不好|对不对|行不行)[\u3002.!~ ]*$",
    refers=r"[这那它他她此也再]|刚才|刚刚|上面|前面|讨论|争|大家|你们|各位",
    enough=3,
)

_JAPANESE: Final = Language(
    letters=r"[\p{Hiragana}\p{Katakana}]",
    grammar=(
        "[はがをにへとでもやかのねよなわしたてすまれるいくだっうさせこそあえけどじゃきりらろ"
        "何私僕君]"
    ),
    piece=r"[\p{Katakana}ー]+|[[^\s]--[\p{Katakana}ー]]+",
    unit=r"[\p{Katakana}ー]+|\X",
    least=2,
    alone=r"\p{Han}|[\p{Katakana}ー]{2,}",
    pace=2.2,
    openers=_openers(
        MappingProxyType(
            {
                GREETING: "こんにちは こんばんは おはよう はじめまして やあ お疲れ",
                THANKS: "ありがとう 有難う 有り難う どうも サンクス 助かりました 助かります",
                YES_NO: """
                    はい いいえ うん ううん そう ええ いや 了解 わかりました わかった
                    分かりました 分かった なるほど たしかに 確かに 大丈夫 もちろん OK オッケー
                    いいですね いいね すみません ごめん
                """,
                GOING_ON: """
                    でも しかし だから それで それ これ あれ その この あと また じゃあ じゃ
                    では ただ ちなみに というか そして たぶん 多分 一応
                """,
                ASKING: """
                    なぜ どうして どう どこ どの どれ どんな いつ なに 何 誰 だれ いくら いくつ
                    教えて 質問
                """,
                CALLING: "誰か だれか どなたか みなさん 皆さん みんな 皆",
            }
        )
    ),
    asking=_words(
        """
        ですか ますか でしょうか ませんか どうやって どうすれば なぜ どこ いつ いくら
        """
    ),
    ending=r"(?:か|かな|かね|っけ|なの)[\u3002.!~ ]*$",
    refers=r"[こそあ][のれ]|彼|さっき|先ほど|上の|みんな|皆",
    enough=3,
)

_KOREAN: Final = Language(
    letters=r"\p{Hangul}",
    grammar=(
        r"\b(?:"
        + _any_of(
            """
            그 이 저 것 거 게 수 때 안 못 더 좀 잘 꼭 다 또 네 예 아니 아니요 아뇨 응 그리고
            그런데 근데 그래서 그럼 하지만 그냥 지금 이제 아직 벌써 나 너 우리 저는 제가 나는
            내가 저도 나도 제 내 네가 혹시 정말 진짜 너무 아주 많이 조금 이거 그거 저거 이건
            그건 이게 그게 여기 거기 저기 뭐 뭘 무슨 어떤 어떻게 왜 언제 어디 어디서 어디에 누구
            누가 얼마 얼마나 몇 있어요 있어 있나요 있습니다 없어요 없어 없나요 없습니다 해요
            했어요 합니다 하고 해서 하면 하는 할 한 된 될 돼요 됩니다 되나요 같아요 같은
            감사합니다 고마워요 고마워 안녕하세요 안녕 여러분 다시 먼저 있는 없는 있을까요 사람
            """
        )
        + r")\b|(?<=\p{Hangul})(?:"
        + _any_of(
            """
            은 는 이 가 을 를 에 의 도 만 와 과 로 랑 에서 에서는 에게 한테 까지 부터 으로
            으로는 이랑 하고 보다 처럼 에는 에도 이나 마다 밖에 이에요 예요 입니다 인가요 인데
            이야 인지 했어요 했어 했는데 했습니다 해요 해서 하면 하는 하게 하나요 할까요 할게요
            하세요 합니다 합니까 해야 하려고 었어요 았어요 였어요 어요 아요 네요 나요 까요 세요
            습니다 습니까 었는데 았는데 는데 은데 지만 으면 려고 려면 어서 아서 지요 죠 던데
            대요 래요 거든요 게요 되나요 돼요 됩니다 됐어요
            """
        )
        + r")\b"
    ),
    piece=r"\S+",
    unit=r"\X",
    least=2,
    alone=r"\p{Hangul}",
    pace=0.0,
    openers=_openers(
        MappingProxyType(
            {
                GREETING: "안녕하세요 안녕 반갑습니다 좋은아침 하이",
                THANKS: "감사합니다 감사해요 고맙습니다 고마워 땡큐",
                YES_NO: """
                    네 넵 예 응 아니요 아니오 아뇨 아니 맞아 그래요 그래 알겠습니다 알았어 좋아
                    ㅇㅋ ㅇㅇ ㄴㄴ ㅋㅋ ㅎㅎ 아하 오 와 괜찮아 물론
                """,
                GOING_ON: """
                    그리고 그런데 근데 그래서 그럼 그러면 하지만 그러니까 그냥 그거 이거 저거
                    그게 이게 그건 이건 아마 사실 저도 나도 또는 또
                """,
                ASKING: "왜 어떻게 어디 언제 누가 누구 무엇 뭐 무슨 어느 어떤 얼마 몇 혹시 질문",
                CALLING: "여러분 다들 모두 아시는",
            }
        )
    ),
    asking=_words("나요 까요 습니까 을까 어떻게 왜 어디 언제 무슨 얼마"),
    ending=r"(?:나요|까요|까|니|냐|는지요?|죠|가요)[.!~ ]*$",
    refers=r"\b[이그저](?:거|건|게|것)?\b|방금|위에|아까|다들|모두|여러분",
    enough=4,
)

_THAI: Final = Language(
    letters=r"\p{Thai}",
    grammar=(
        _any_of(
            """
            ที่ และ ของ ใน มี เป็น ได้ ให้ ไม่ จะ ว่า กับ จาก แล้ว ก็ ครับ ค่ะ คะ นะ การ ความ อยู่ คือ หรือ แต่
            เพราะ ถ้า ต้อง อยาก ช่วย ด้วย ยัง ไป มา นี้ นั้น ไหน อะไร ทำไม ยังไง อย่างไร เมื่อไหร่ เท่าไหร่ ไหม
            มั้ย ใคร ผม ฉัน เรา คุณ เขา มัน กัน บ้าง เลย อีก มาก ๆ ขอบคุณ สวัสดี ใช้ ทำ ลอง ดู เคย ใช่ กำลัง
            ตอนนี้ วันนี้ ตรงนี้ หน่อย ก่อน ถึง โดย ตัว อัน ใหม่ ขึ้น ลง ออก เข้า บน ซึ่ง แบบ กี่ ตอน นาน สิ จ้ะ จ้า ล่ะ
            รู้ เปล่า ทุกคน เอา
            """
        )
    ),
    piece=r"\S+",
    unit=r"[เแโใไ]?[ก-ฮ]\p{M}*[ะาๅ]?|\X",
    least=3,
    alone=r".{3,}",
    pace=3.0,
    openers=_openers(
        MappingProxyType(
            {
                GREETING: "สวัสดี หวัดดี ดีครับ ดีค่ะ ฮัลโหล",
                THANKS: "ขอบคุณ ขอบใจ แต๊งกิ้ว",
                YES_NO: "ใช่ ไม่ใช่ ไม่ ได้ โอเค ครับ ค่ะ จริง เข้าใจ อ๋อ อืม เออ แน่นอน ตกลง ดี",
                GOING_ON: "แต่ และ แล้ว ก็ เพราะ ดังนั้น งั้น อันนี้ อันนั้น มัน คือ ถ้า น่าจะ ลอง จริงๆ",
                ASKING: "ทำไม อะไร ยังไง อย่างไร ที่ไหน เมื่อไหร่ เท่าไหร่ ใคร กี่ สอบถาม ขอถาม ถาม",
                CALLING: "มีใคร ใครรู้ ใครเคย ทุกคน เพื่อนๆ",
            }
        )
    ),
    asking=_words("ไหม มั้ย ทำไม อะไร ยังไง อย่างไร ที่ไหน เมื่อไหร่ เท่าไหร่ กี่"),
    ending=r"(?:ไหม|มั้ย|หรือเปล่า|หรือยัง|เหรอ|หรอ|ล่ะ)(?:ครับ|ค่ะ|คะ)?[.!~ ]*$",
    refers=r"นี้|นั้น|มัน|เมื่อกี้|ข้างบน|ทุกคน",
    enough=6,
)

LANGUAGES: Final = (_JAPANESE, _KOREAN, _THAI, _CHINESE)
"""The languages with rules, in the order in which a text is taken for one of them."""
