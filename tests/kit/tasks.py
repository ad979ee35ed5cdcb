"""Things that three people ask an agent in one group, with its answers and what they ask next.

The rules were written with the first ones in view. The last three of each language were added
later, when the rules held for the others; since then the rules have been changed with all of them
in the tests, so that none is unseen any more. A triple may be added, and none may be left out.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Task(NamedTuple):
    """What somebody asks, what the agent answers, and what the same person asks next."""

    asks: str
    answer: str
    then: str


Triple = tuple[Task, Task, Task]

ENGLISH: Final[tuple[Triple, ...]] = (
    (
        Task(
            "which Linux desktop would you put on a ten year old laptop?",
            "Xfce is a good choice: it needs about 600 MB of memory and looks familiar.",
            "and how do I make the panel bigger?",
        ),
        Task(
            "what could I cook for dinner tonight with leeks and potatoes?",
            "A soup: soften the leeks in butter, add potatoes and stock, simmer it for an hour.",
            "does that work without butter?",
        ),
        Task(
            "write me a script that renames all my photos by date",
            'Here you are: for f in *.jpg; do mv "$f" "$(exiftool -d %F -p \'$DateTimeOriginal\' '
            '"$f").jpg"; done',
            "can it keep the old name at the end?",
        ),
    ),
    (
        Task(
            "my cat sneezes all day, should I worry?",
            "If she eats and plays, wait two days. See a vet if her nose runs or she is tired.",
            "she is fourteen, does that change anything?",
        ),
        Task(
            "translate this into Italian for me: the train leaves at nine",
            "Il treno parte alle nove.",
            "and how would I say half past nine?",
        ),
        Task(
            "how many days of notice does a tenant have to give in Austria?",
            "Usually three months, unless the contract names a shorter period.",
            "where would I send that letter?",
        ),
    ),
    (
        Task(
            "explain the offside rule to me in two sentences",
            "A player is offside if nearer to the goal line than the ball and the second last "
            "defender when it is played. It only counts if the player takes part in the game.",
            "what about throw-ins?",
        ),
        Task(
            "suggest a name for our new coffee machine",
            "How about Steam Queen? It is short, and everybody will remember it.",
            "something funnier please",
        ),
        Task(
            "why is my SQL query so slow when I join orders with customers?",
            "Most likely there is no index on orders.customer_id. Create one and look at the plan.",
            "how do I create one?",
        ),
    ),
    (
        Task(
            "remind me what the capital of Mongolia is called",
            "Ulaanbaatar.",
            "how do you pronounce it?",
        ),
        Task(
            "draft a short mail to my landlord about the broken heating",
            "Dear Mr Smith, the heating in my flat has been off since Monday. Could you send "
            "somebody this week? Kind regards",
            "make it a bit more polite",
        ),
        Task(
            "how long do I have to boil an egg at 2,000 metres?",
            "About a minute longer than at sea level: water boils at 93 degrees there.",
            "and a hard one?",
        ),
    ),
    (
        Task(
            "is it safe to charge my e-bike battery overnight?",
            "With the maker's charger, yes: it stops by itself. Keep it away from the bed.",
            "even in the cold garage?",
        ),
        Task(
            "summarize the plot of Hamlet for a child",
            "A prince's uncle has taken the throne. The prince finds out how, and it ends badly.",
            "shorter please",
        ),
        Task(
            "what is a good present for a colleague who retires?",
            "A voucher for a trip, or a book in which everybody writes a page.",
            "we have about eighty euros",
        ),
    ),
    (
        Task("convert 350 fahrenheit to celsius", "That is about 177 degrees Celsius.", "and 400?"),
        Task(
            "who won the chess world championship in 1972?",
            "Bobby Fischer. He beat Boris Spassky in Reykjavik.",
            "how many games did they play?",
        ),
        Task(
            "help me plan a weekend in Lisbon with two kids",
            "Saturday: the oceanarium and the cable car. Sunday: tram 28 and the castle.",
            "what if it rains?",
        ),
    ),
    (
        Task("recommend a thriller", "Try Gone Girl.", "I have read that one"),
        Task("define entropy", "A measure of disorder.", "simpler?"),
        Task("fix my printer", "Is it switched on?", "yes, it is"),
    ),
    (
        Task(
            "how do I get red wine out of a white shirt?",
            "Rinse it with cold water at once, then soak it in salt or baking soda.",
            "the stain is two days old",
        ),
        Task(
            "what does the German word Feierabend mean?",
            "The end of the working day, and the free time after it.",
            "give me an example sentence",
        ),
        Task(
            "which stretches help against back pain from sitting?",
            "Cat and cow, the child's pose, and a hip flexor stretch, a minute each.",
            "how often per day?",
        ),
    ),
    (
        Task(
            "can you check whether this regex is right: ^[a-z]+\\d{2}$",
            "Yes. It matches small letters followed by exactly two digits.",
            "and if capitals are allowed as well?",
        ),
        Task(
            "when should I plant garlic in a cold climate?",
            "In October, about six weeks before the ground freezes.",
            "how deep?",
        ),
        Task(
            "I need a rhyme for my grandmother's eightieth birthday",
            "Eighty candles, burning bright: grandma, you're our guiding light!",
            "one more line please",
        ),
    ),
    (
        Task("best way from Graz to Trieste without a car?", "By coach, in four hours.", "price?"),
        Task("how many teeth does a shark have?", "About 300 at a time.", "and a dolphin?"),
        Task("play me a riddle", "What has keys but opens no door?", "no idea, tell me"),
    ),
)

CHINESE: Final[tuple[Triple, ...]] = (
    (
        Task(
            "十年的旧笔记本装哪个Linux桌面比较好?",
            "推荐Xfce,只需要大约600MB内存,界面也很熟悉。",
            "面板怎么调大一点?",
        ),
        Task(
            "今天晚饭吃什么好?家里有土豆和韭葱",
            "可以做汤:先用黄油炒软韭葱,再加土豆和高汤,小火煮二十分钟。",
            "没有黄油也行吗?",
        ),
        Task(
            "帮我写一个按日期重命名照片的脚本",
            '好的:for f in *.jpg; do mv "$f" "$(exiftool -d %F -p \'$DateTimeOriginal\' '
            '"$f").jpg"; done',
            "能保留原来的名字吗?",
        ),
    ),
    (
        Task(
            "我家猫整天打喷嚏,要不要紧?",
            "如果它能吃能玩,先观察两天;流鼻涕或没精神就去看医生。",
            "它十四岁了,有影响吗?",
        ),
        Task("把这句话翻译成意大利语:火车九点开", "Il treno parte alle nove.", "九点半怎么说?"),
        Task(
            "租客退租要提前多少天通知房东?", "一般是三十天,合同另有约定的除外。", "通知要寄到哪里?"
        ),
    ),
    (
        Task(
            "用两句话解释一下足球的越位规则",
            "传球的瞬间,进攻球员比球和倒数第二名防守球员更靠近球门线就是越位。没有参与进攻则不判。",
            "界外球也算吗?",
        ),
        Task("给我们的新咖啡机起个名字", "叫“蒸汽女王”怎么样?好记。", "再搞笑一点"),
        Task(
            "为什么我的SQL查询连接订单表和客户表这么慢?",
            "多半是customer_id上没有索引,建一个再看执行计划。",
            "怎么建?",
        ),
    ),
    (
        Task("蒙古国的首都叫什么来着?", "乌兰巴托。", "怎么读?"),
        Task(
            "写一封短信给物业,说暖气坏了",
            "您好,我家暖气从周一开始就不热了,麻烦这周派人来看看,谢谢。",
            "再客气一点",
        ),
        Task(
            "海拔两千米煮鸡蛋要多久?",
            "比平地多一分钟左右,因为那里水九十三度就开了。",
            "煮老一点呢?",
        ),
    ),
    (
        Task(
            "电动车电池整夜充电安全吗?",
            "用原装充电器没问题,充满会自动断电,别放在床边。",
            "放在冷车库里也行?",
        ),
        Task(
            "给小朋友讲讲哈姆雷特的故事",
            "王子的叔叔夺走了王位,王子发现了真相,结局很悲惨。",
            "短一点",
        ),
        Task("同事退休送什么礼物好?", "旅行券,或者一本每个人都写一页的纪念册。", "预算六百块左右"),
    ),
    (
        Task("350华氏度是多少摄氏度?", "大约177摄氏度。", "400呢?"),
        Task(
            "1972年国际象棋世界冠军是谁?",
            "博比·菲舍尔,他在雷克雅未克击败了斯帕斯基。",
            "他们一共下了几盘?",
        ),
        Task(
            "帮我安排一个带孩子去杭州的周末",
            "周六去海洋馆,周日坐船游西湖,再去龙井村。",
            "下雨怎么办?",
        ),
    ),
    (
        Task("白衬衫上的红酒渍怎么洗掉?", "马上用冷水冲,再用盐或者小苏打泡一会儿。", "已经两天了"),
        Task("“内卷”用英语怎么翻译?", "可以说 involution,不过要加解释。", "举个例句"),
        Task("久坐腰疼做什么拉伸好?", "猫牛式、婴儿式、髋屈肌拉伸,每个一分钟。", "一天几次?"),
    ),
    (
        Task("北方什么时候种大蒜?", "十月种,上冻前六周左右。", "种多深?"),
        Task("给奶奶八十大寿写两句祝寿词", "福如东海,寿比南山;八十载春秋,儿孙满堂。", "再来一句"),
        Task("Python里怎么把列表倒过来?", "用 items[::-1],或者 items.reverse()。", "哪个更快?"),
    ),
    (
        Task("从成都坐高铁去西安多少钱?", "二等座两百六十多块。", "一等座呢?"),
        Task("鲨鱼有多少颗牙?", "同时大约三百颗。", "海豚呢?"),
        Task("出个谜语", "什么东西有钥匙却打不开门?", "猜不出来"),
    ),
)
